#!/bin/sh
# nginx.sh PORT FOLDER LEVEL serves a page of 40 kB, compressed by gzip at LEVEL.
mkdir -p "$2/www"
seq 7000 >"$2/www/index.html"
cat >"$2/nginx.conf" <<CONF
daemon off; worker_processes 1; error_log stderr; pid $2/pid;
events { worker_connections 256; }
http {
  access_log off; gzip on; gzip_min_length 1; gzip_http_version 1.0; gzip_types *; gzip_comp_level $3;
  client_body_temp_path $2/b; proxy_temp_path $2/p; fastcgi_temp_path $2/f; uwsgi_temp_path $2/u; scgi_temp_path $2/s;
  server { listen 127.0.0.1:$1; root $2/www; }
}
CONF
exec nginx -c "$2/nginx.conf" -p "$2" -g "user root;"
