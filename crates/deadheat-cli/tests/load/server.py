"""A small HTTP server: server.py PORT-OR-SOCKET [WORK [MODE]]. Each request computes WORK hashes."""
import hashlib, os, socket, sys, time

place, work, mode = (sys.argv[1:] + ["200", ""])[:3] if len(sys.argv) < 4 else sys.argv[1:4]
if mode == "daemon":
    if os.fork():
        os._exit(0)
    os.setsid()
if mode == "child":
    if os.fork() == 0:
        os.setsid()
        open("child.pid", "w").write(str(os.getpid()))
        time.sleep(1000)
if mode == "stubborn":
    import signal

    signal.signal(signal.SIGTERM, signal.SIG_IGN)
if mode == "late":
    time.sleep(0.3)
if place.isdigit():
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", int(place)))
else:
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(place)
listener.listen(16)
print("listening on", place, flush=True)
if mode == "loud":
    print("x" * 1_000_000, flush=True)
served = 0
while True:
    connection, _ = listener.accept()
    requests = connection.makefile("rb")
    while requests.readline():
        while requests.readline().strip():
            pass
        served += 1
        if mode == "dies" and served > 150:
            os._exit(7)
        digest = b"x"
        for _ in range(int(work)):
            digest = hashlib.sha256(digest).digest()
        code = "500 Broken" if mode == "broken" else "200 OK"
        body = (os.environ.get("ANSWER") or digest.hex()).encode()
        head = f"HTTP/1.1 {code}\r\nContent-Length: {len(body)}\r\n\r\n"
        try:
            connection.sendall(head.encode() + body)
        except OSError:
            break
    connection.close()
