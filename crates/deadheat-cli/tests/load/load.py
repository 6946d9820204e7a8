"""A load generator: load.py PORT-OR-SOCKET [REQUESTS] sends requests one after the other."""
import socket, sys, time

place, count = (sys.argv[1:] + ["100"])[:2]
since = time.perf_counter()
if place.isdigit():
    connection = socket.create_connection(("127.0.0.1", int(place)))
else:
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.connect(place)
replies = connection.makefile("rb")
failed = 0
for _ in range(int(count)):
    connection.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    failed += b" 200 " not in replies.readline()
    length = 0
    while line := replies.readline().strip():
        if line.lower().startswith(b"content-length:"):
            length = int(line.split(b":")[1])
    replies.read(length)
took = time.perf_counter() - since
print(f"requests: {int(count) - failed}\nfailed: {failed}\nrate: {int(count) / took:.3f}")
