#!/usr/bin/env python3
"""What a HostTunnel costs beside HAProxy in TCP mode, and beside no proxy at all, in one run on loopback.

  Scripts/tunnel_cost.py PROGRAM [--bytes N] [--messages N] [--connections N]

PROGRAM is tunnel-cost, built for release:
  swift build -c release --traits Tunnel --product tunnel-cost
HAProxy is Debian's package haproxy. An origin of threads sends a stream on "S", echoes messages of 100 bytes on "M", and with "D" echoes them 20 ms
late, and takes a stream on "U". Prints medians: the time from connecting to the first answer, the time of a message back and forth, the throughput of
one stream; and how much memory the tunnel has taken beyond what it had, with a stream each way to a reader that is slower than its writer.
"""
import argparse, base64, os, socket, statistics, subprocess, sys, tempfile, threading, time

parser = argparse.ArgumentParser()
parser.add_argument("program")
parser.add_argument("--bytes", type=int, default=2 << 30)
parser.add_argument("--messages", type=int, default=3000)
parser.add_argument("--connections", type=int, default=500)
arguments = parser.parse_args()
MESSAGE = b"m" * 100
PIECE = bytes(1 << 20)


def receive(peer, count, pause=0):
    got = 0
    while got < count:
        part = peer.recv(min(count - got, 1 << 20))
        if not part:
            return False
        got += len(part)
        if pause:
            time.sleep(pause)
    return True


def serve(peer):
    peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    kind = peer.recv(1)
    try:
        if kind == b"S":
            for _ in range(arguments.bytes // len(PIECE)):
                peer.sendall(PIECE)
        if kind == b"U":
            receive(peer, arguments.bytes, 0.0005)
            peer.sendall(b"U")
        while kind in (b"M", b"D") and receive(peer, len(MESSAGE)):
            if kind == b"D":
                time.sleep(0.02)
            peer.sendall(MESSAGE)
    except OSError:
        pass
    peer.close()


def accept(listener):
    while True:
        threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()


# The origin is a process of its own, as the client is.
listener = socket.create_server(("127.0.0.1", 0), backlog=1024)
origin = listener.getsockname()[1]
server = os.fork()
if server == 0:
    accept(listener)

work = tempfile.TemporaryDirectory()
probe = socket.create_server(("127.0.0.1", 0))
haproxy = probe.getsockname()[1]
probe.close()
with open(f"{work.name}/haproxy.cfg", "w") as file:
    file.write(f"""global
  maxconn 4000
defaults
  mode tcp
  timeout connect 5s
  timeout client 60s
  timeout server 60s
listen bench
  bind 127.0.0.1:{haproxy}
  server origin 127.0.0.1:{origin}
""")
other = subprocess.Popen(["haproxy", "-f", f"{work.name}/haproxy.cfg"])
tunnel = subprocess.Popen([arguments.program, f"bench.test:{origin}", "127.0.0.1"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
start, place = tunnel.stdout.readline().split()
secret, port = place[len("http://"):].rsplit("@", 1)
port = int(port.split(":")[1])
head = f"CONNECT bench.test:{origin} HTTP/1.1\r\nProxy-Authorization: Basic {base64.b64encode(secret.encode()).decode()}\r\n\r\n".encode()
time.sleep(0.5)


def connect(way, kind):
    peer = socket.create_connection(("127.0.0.1", {"direct": origin, "haproxy": haproxy, "tunnel": port}[way]))
    peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    if way == "tunnel":
        peer.sendall(head)
        answer = b""
        while b"\r\n\r\n" not in answer:
            answer += peer.recv(1000)
        assert b" 200 " in answer, answer
    peer.sendall(kind)
    return peer


def opening(way):
    begin = time.perf_counter()
    peer = connect(way, b"M")
    peer.sendall(MESSAGE)
    receive(peer, len(MESSAGE))
    end = time.perf_counter()
    peer.close()
    return (end - begin) * 1e6


def messages(way, count, kind=b"M"):
    peer = connect(way, kind)
    times = []
    for _ in range(count):
        begin = time.perf_counter()
        peer.sendall(MESSAGE)
        receive(peer, len(MESSAGE))
        times.append((time.perf_counter() - begin) * 1e6)
    peer.close()
    return statistics.median(times)


def stream(way):
    peer = connect(way, b"S")
    buffer = bytearray(1 << 20)
    begin = time.perf_counter()
    got = 0
    while True:
        count = peer.recv_into(buffer)
        if not count:
            break
        got += count
    return got / (time.perf_counter() - begin) / 1e6


def resident():
    """The most memory that the tunnel has had so far, in MiB."""
    with open(f"/proc/{tunnel.pid}/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmHWM")) / 1024


def memory():
    before = resident()
    peer = connect("tunnel", b"S")
    assert receive(peer, arguments.bytes, 0.0005)
    peer.close()
    down = resident()
    peer = connect("tunnel", b"U")
    for _ in range(arguments.bytes // len(PIECE)):
        peer.sendall(PIECE)
    assert receive(peer, 1)
    return down - before, resident() - down


WAYS = ["direct", "haproxy", "tunnel"]
try:
    results = {way: {"open": [], "message": [], "late": [], "stream": []} for way in WAYS}
    messages("tunnel", 100)
    grown = memory()
    # In turns, so that what else the machine does is the same for all.
    for _ in range(arguments.connections):
        for way in WAYS:
            results[way]["open"].append(opening(way))
    for _ in range(5):
        for way in WAYS:
            results[way]["message"].append(messages(way, arguments.messages // 5))
            results[way]["late"].append(messages(way, 20, b"D"))
            results[way]["stream"].append(stream(way))
    print(f"start of the tunnel: {float(start):.2f} ms")
    print("memory taken by %d MiB down and up: %.1f and %.1f MiB" % (arguments.bytes >> 20, *grown))
    print(f"{'':10}{'open, µs':>12}{'message, µs':>14}{'behind 20 ms, µs':>18}{'stream, MB/s':>15}")
    for way in WAYS:
        row = {name: statistics.median(values) for name, values in results[way].items()}
        print(f"{way:10}{row['open']:12.0f}{row['message']:14.1f}{row['late']:18.0f}{row['stream']:15.0f}")
finally:
    tunnel.kill()
    other.kill()
    os.kill(server, 9)
