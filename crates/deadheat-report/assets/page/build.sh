#!/bin/sh
# Makes charts.min.js anew from the versions in package-lock.json (node and npm).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$here/package.json" "$here/package-lock.json" "$here/charts.js" "$work"
cd "$work"
npm ci --ignore-scripts --no-audit --no-fund --silent
version=$(node -p 'require("echarts/package.json").version')
npx esbuild charts.js --bundle --minify --format=iife --global-name=charts \
    --target=es2020 --charset=utf8 --legal-comments=none \
    '--define:process.env.NODE_ENV="production"' \
    "--banner:js=/* Apache ECharts $version (Apache-2.0), zrender (BSD-3-Clause), tslib (0BSD); see LICENSE */" \
    --outfile=charts.min.js --log-level=warning
{
    echo "charts.min.js is a bundle of Apache ECharts, zrender and tslib. Their notices and licences follow."
    for part in echarts/NOTICE echarts/LICENSE zrender/LICENSE tslib/LICENSE.txt; do
        printf '\n===== %s =====\n\n' "$part"
        cat "node_modules/$part"
    done
} | tr -d '\r' > LICENSE
cp charts.min.js LICENSE "$here"
wc -c "$here/charts.min.js"
