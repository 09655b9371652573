# SPDX-License-Identifier: GPL-2.0-or-later
"""Metrics of rocestat -i: HTTP, the file, what promtool thinks of them, and a Prometheus that scrapes."""
import http.client
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import unittest
import urllib.parse

import net

OPENMETRICS = "application/openmetrics-text; version=1.0.0; charset=utf-8"
TEXT = "text/plain; version=0.0.4; charset=utf-8"


class Server(net.Case):
    def serve(self, *args, address="127.0.0.1:0"):
        program = self.start("rocestat", "-i", "b0", "--listen", address, *args)
        self.url = urllib.parse.urlsplit(net.until(lambda: re.search(r"metrics at (\S+)", program.read()), "a URL")[1])
        return program

    def ask(self, path="/metrics", method="GET", accept=None):
        connection = http.client.HTTPConnection(self.url.hostname, self.url.port, timeout=net.PATIENCE)
        connection.request(method, path, headers={"Accept": accept} if accept else {})
        response = connection.getresponse()
        body = response.read().decode()
        connection.close()
        return response, body

    def value(self, name, **labels):
        body = self.ask()[1]
        for line in body.splitlines():
            if (line.startswith(name) and line[len(name)] in "{ "
                    and all(f'{k}="{v}"' in line for k, v in labels.items())):
                return float(line.rsplit(" ", 1)[1])
        return None


class Http(Server):
    def test_values_are_those_of_the_file(self):
        """The numbers come from the capture's description, which was counted by another program."""
        check = json.loads(net.capture("loss5_egress_send.json").read_text())["check"]
        truth = {"roce_frames": check["S"]["roce"], "naks": sum(check["naks"].values())}
        sent = net.frames(net.capture("loss5_egress_send.pcap"))
        self.serve()
        net.send(sent)
        net.until(lambda: self.value("roce_frames_total") == len(sent), "all frames")
        self.assertEqual(self.value("roce_packets_total", interface="b0"), truth["roce_frames"])
        self.assertEqual(self.value("roce_naks_total", interface="b0"), truth["naks"])
        self.assertEqual(self.value("roce_priority_packets_total", priority=0), truth["roce_frames"])
        self.assertEqual(self.value("roce_dscp_packets_total", dscp=0), truth["roce_frames"])
        self.assertEqual(self.value("roce_capture_received_total"), len(sent))
        self.assertEqual(self.value("roce_capture_kernel_dropped_total"), 0)
        net.until(lambda: self.value("roce_qp_packet_seq_err_total", host="192.168.77.2") == truth["naks"], "the QPs")
        self.assertEqual(self.value("roce_qp_out_of_sequence_total", host="192.168.77.3"), truth["naks"])
        self.assertEqual(self.value("roce_lost_frames_total", location="capture"), 0)

    def test_two_formats(self):
        self.serve()
        for accept, kind in ((None, TEXT), ("*/*", TEXT), ("text/plain", TEXT),
                             ("application/openmetrics-text;version=1.0.0,text/plain;q=0.5", OPENMETRICS)):
            response, body = self.ask(accept=accept)
            self.assertEqual((response.status, response.headers["Content-Type"]), (200, kind))
            self.assertEqual(body.endswith("# EOF\n"), kind == OPENMETRICS)
            self.assertIn("roce_frames_total{interface=\"b0\"} 0\n", body)
            self.assertIn("# TYPE roce_frames%s counter\n" % ("" if kind == OPENMETRICS else "_total"), body)

    def test_other_requests(self):
        self.serve()
        self.assertEqual(self.ask("/")[0].status, 200)
        self.assertEqual(self.ask("/nope")[0].status, 404)
        self.assertEqual(self.ask(method="POST")[0].status, 405)
        response, body = self.ask(method="HEAD")
        self.assertEqual((response.status, body), (200, ""))

    def test_only_the_worst_qps_have_series(self):
        """64 pairs without trouble, and one with losses; the two QPs of the latter are the worst."""
        file = net.WORK / "many.pcap"
        subprocess.run([net.BIN / "bench_gen", file, "4000", "64", "64", "64"], check=True, capture_output=True)
        sent = net.frames(file) + net.frames(net.capture("loss5_egress_send.pcap"))
        self.serve("--top", 2)
        net.send(sent)
        net.until(lambda: self.value("roce_frames_total") == len(sent), "all frames")
        net.until(lambda: self.value("roce_qp_packets_total", peer="192.168.77.2"), "the QPs")
        body = self.ask()[1]
        hosts = re.findall(r'^roce_qp_packets_total\{host="([^"]*)"', body, re.M)
        self.assertEqual(sorted(hosts), ["192.168.77.2", "192.168.77.3"])

    def test_slow_readers_do_not_stop_the_counting(self):
        """40 connections that never end their request; the frames are all counted, and at the end it ends."""
        sent = net.frames(net.capture("rc_all_ops.pcap"))
        program = self.serve()
        slow = []
        for _ in range(40):
            s = socket.create_connection((self.url.hostname, self.url.port))
            s.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\n")
            slow.append(s)
        for _ in range(20):
            net.send(sent)
        net.until(lambda: program.counted() == 20 * len(sent), "all frames")
        program.end()
        for s in slow:
            s.close()

    def test_addresses(self):
        self.serve(address="[::1]:0") if socket.has_ipv6 and pathlib.Path("/proc/net/if_inet6").exists() and \
            "00000000000000000000000000000001" in pathlib.Path("/proc/net/if_inet6").read_text() else self.serve()
        self.assertEqual(self.ask()[0].status, 200)
        self.serve(address="0")
        self.assertEqual(self.url.hostname in ("::", "0.0.0.0"), True)
        taken = self.url.port
        done = subprocess.run([net.BIN / "rocestat", "-i", "b0", "--listen", f":{taken}"],
                              capture_output=True, text=True)
        self.assertEqual((done.returncode, "Address already in use; choose another port" in done.stderr), (1, True))
        done = subprocess.run([net.BIN / "rocestat", "-i", "b0", "--listen", "192.0.2.1:0"],
                              capture_output=True, text=True)
        self.assertEqual((done.returncode, "choose another address" in done.stderr), (1, True))


class File(Server):
    def test_file_is_kept(self):
        sent = net.frames(net.capture("rc_all_ops.pcap"))
        with tempfile.TemporaryDirectory() as folder:
            os.chmod(folder, 0o777)
            file = pathlib.Path(folder) / "roce.prom"
            program = self.start("rocestat", "-i", "b0", "--textfile", file)
            net.until(file.exists, "the file")
            self.assertIn('roce_frames_total{interface="b0"} 0\n', file.read_text())
            net.send(sent)
            net.until(lambda: f'roce_frames_total{{interface="b0"}} {len(sent)}\n' in file.read_text(), "all frames")
            self.assertEqual(file.stat().st_uid, 65534)
            net.send(sent[:5])
            program.end()
            self.assertIn(f'roce_frames_total{{interface="b0"}} {len(sent) + 5}\n', file.read_text())
            self.assertEqual(os.listdir(folder), ["roce.prom"])

    def test_file_that_cannot_be_written(self):
        done = subprocess.run([net.BIN / "rocestat", "-i", "b0", "--textfile", "/proc/roce.prom"], capture_output=True,
                              text=True, timeout=net.PATIENCE)
        self.assertEqual(done.returncode, 1)
        self.assertIn("/proc/roce.prom: ", done.stderr)


@unittest.skipUnless(shutil.which("promtool") and shutil.which("prometheus"), "needs prometheus")
class Prometheus(Server):
    def test_promtool_has_nothing_to_say(self):
        program = self.serve("--link-speed", "100G")
        for name in ("loss5_egress_send.pcap", "ecn_ce.pcap"):
            net.send(net.frames(net.capture(name)))
        pause = bytes.fromhex("0180c20000010200000000018808010100ff") + bytes.fromhex("ffff") * 8 + bytes(26)
        net.send([pause])
        net.until(lambda: self.value("roce_pause_xoff_total", priority=3) == 1, "the pause")
        net.until(lambda: self.value("roce_qp_packets_total") is not None, "the QPs")
        done = subprocess.run(["promtool", "check", "metrics"], input=self.ask()[1], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout + done.stderr), (0, ""))
        program.end()

    def test_scraped_values_can_be_queried(self):
        sent = net.frames(net.capture("loss5_egress_send.pcap"))
        self.serve()
        net.send(sent)
        work = tempfile.TemporaryDirectory()
        self.addCleanup(work.cleanup)
        config = pathlib.Path(work.name) / "prometheus.yml"
        config.write_text("global: {scrape_interval: 1s}\nscrape_configs:\n- job_name: roce\n"
                          f"  static_configs: [{{targets: ['{self.url.netloc}']}}]\n")
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            port = s.getsockname()[1]
        prometheus = subprocess.Popen(["prometheus", f"--config.file={config}", f"--storage.tsdb.path={work.name}/data",
                                       f"--web.listen-address=127.0.0.1:{port}", "--log.level=error"],
                                      stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(prometheus.wait)
        self.addCleanup(prometheus.kill)

        def ask(path):
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=net.PATIENCE)
            try:
                connection.request("GET", path)
                return json.loads(connection.getresponse().read())["data"]
            except (OSError, ValueError):  # not there yet
                return None
            finally:
                connection.close()

        def query(expression):
            data = ask("/api/v1/query?query=" + urllib.parse.quote(expression))
            return float(data["result"][0]["value"][1]) if data and data["result"] else None
        net.until(lambda: query('roce_frames_total{interface="b0"}') == len(sent), "the frames in Prometheus")
        net.until(lambda: query("sum(roce_qp_packets_total)") == 529, "the QPs in Prometheus")
        self.assertEqual(query("up"), 1)
        self.assertEqual(query("sum(roce_dscp_packets_total) - sum(roce_packets_total)"), 0)
        target = ask("/api/v1/targets")["activeTargets"][0]
        self.assertEqual((target["health"], target["lastError"]), ("up", ""))
        metadata = ask("/api/v1/metadata")
        # OpenMetrics names the family without its suffix: that format was negotiated.
        self.assertEqual(metadata["roce_frames"][0]["type"], "counter")


if __name__ == "__main__":
    net.main()
