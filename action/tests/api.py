"""The part of GitHub's API that a comment needs, for `just action`.

Call: api.py FILE HEAD. The port is printed; comments and requests are kept in
FILE. HEAD is the head of pull request 7, as far as it is asked for.
"""

import json
import re
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer

FILE, HEAD = sys.argv[1:]
comments = []
requests = []


class Api(BaseHTTPRequestHandler):
    def answer(self, code, value):
        with open(FILE, "w") as file:
            json.dump({"comments": comments, "requests": requests}, file)
        body = json.dumps(value).encode()
        self.send_response(code)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def handle_one(self):
        length = int(self.headers.get("Content-Length", 0))
        body = json.loads(self.rfile.read(length) or "{}")
        path = self.path.split("?")[0]
        requests.append(f"{self.command} {path}")
        one = re.fullmatch(r"/repos/[^/]+/[^/]+/issues/comments/(\d+)", path)
        if self.headers.get("Authorization") != "Bearer of-the-test":
            self.answer(401, {"message": "Bad credentials"})
        elif re.fullmatch(r"/repos/[^/]+/[^/]+/pulls", path):
            self.answer(200, [{"number": 7, "head": {"sha": HEAD}}])
        elif re.fullmatch(r"/repos/[^/]+/[^/]+/issues/7/comments", path):
            if self.command == "GET":
                return self.answer(200, comments if "page=1" in self.path else [])
            comment = {
                "id": len(comments) + 1,
                "body": body["body"],
                "user": {"login": "github-actions[bot]"},
                "html_url": f"http://localhost/comment/{len(comments) + 1}",
            }
            comments.append(comment)
            self.answer(201, comment)
        elif one and self.command == "PATCH":
            comment = comments[int(one[1]) - 1]
            comment["body"] = body["body"]
            self.answer(200, comment)
        else:
            self.answer(404, {"message": "Not Found"})

    do_GET = do_POST = do_PATCH = handle_one

    def log_message(self, *_):
        pass


server = HTTPServer(("127.0.0.1", 0), Api)
print(server.server_port, flush=True)
server.serve_forever()
