/* eddy-bench: measures servers of HTTP, and says what came of it.
 *
 *     eddy-bench get http://localhost:7878/files/{size}.bin --sizes 4k,1m --connections 1,16
 *     eddy-bench report RESULT.json
 */
#include "compare.h"
#include "hold.h"
#include "measure.h"
#include "report.h"

#include <stdio.h>
#include <string.h>

static const char manual[] =
	"eddy-bench get|put|req [NAME=]URL… [OPTION]…    measure servers; several targets take turns\n"
	"eddy-bench hold URL [-c N] [--stall get|put]    open connections, and keep them until stdin ends\n"
	"eddy-bench report RESULT.json [OPTION]…         print a saved result, or make a page with charts (--html FILE)\n"
	"eddy-bench compare OLD.json NEW.json [OPTION]… report what became worse by more than noise\n"
	"\n"
	"A URL is http[s]://HOST[:PORT]/PATH, or unix:SOCKET:/PATH. In the path, {size} is replaced by the size of the cell\n"
	"(4k, also if typed as 4096), {n} by the number of the connection, {i} by that of the request. A cell is one size and\n"
	"one number of connections; each of its rounds has one sample for each target.\n"
	"\n"
	"  --sizes 4k,64k,1m     body sizes: get requests {size}, put sends as much\n"
	"  -c, --connections 1,16,64                  numbers of connections; default 1\n"
	"  --cycle N             {i} is from 0 to N-1, and then from 0 again\n"
	"  -d, --depth N         requests in flight on a connection (pipelining); default 1\n"
	"  --http2               HTTP/2: over TLS by ALPN, else by prior knowledge\n"
	"  --streams N           for --http2: requests in flight on a connection; default 1\n"
	"  --frame SIZE          for --http2: largest frame received, and sent if the server allows it; default 16k\n"
	"  -t, --time S          length of a sample; default 1 (seconds, or 500ms)\n"
	"  -r, --rounds N        number of rounds; default 7\n"
	"  --warmup S            length of the warm-up before each sample; default 0.1\n"
	"  -R, --rate N          requests a second, independent of the server (an open loop): latency counts from the\n"
	"                        scheduled time; default: as fast as the server responds\n"
	"  -H, --header 'N: V'   a field of every request; may be repeated\n"
	"  -X, --method M        method of req; default GET\n"
	"  --body-file FILE      the body that put and req send\n"
	"  --expect STATUS       the status that is no error; default: 200 to 299, and 304\n"
	"  --timeout S           maximum time without progress; default 10. After the end of a sample, requests\n"
	"                        in flight have 30 times this to finish\n"
	"  --verify              read every body, and compare its SHA-256 with that of the first; put: download the file\n"
	"                        after each sample, and compare it with what was sent\n"
	"  --digest HEX          compare with this SHA-256 instead\n"
	"  --files DIR           the files that the server sends, to check whether they are in the page cache\n"
	"  --cold                drop these files from the page cache before each request (each connection makes one,\n"
	"                        with {n} in the path)\n"
	"  --ca FILE             trusted certificate authorities (PEM) instead of the system's\n"
	"  --insecure            do not verify certificates\n"
	"  --ciphers A:B         TLS cipher suites, in OpenSSL's syntax; default: all secure ones\n"
	"  --resume              each connection resumes the TLS session of an earlier one, if the server issues tickets;\n"
	"                        default: a full handshake. With -H 'Connection: close' each request has a handshake\n"
	"  --between COMMAND     run by sh before each sample; TARGET is the target's name\n"
	"  --against NAME        the target that the others are compared with; default: the first\n"
	"  --pid PID             the process id of the server, if it is not found by its port\n"
	"  --no-system-calls     do not count system calls, which takes a short additional run for each target\n"
	"  --progress            print progress even if stderr is not a terminal\n"
	"  --html FILE           write a page with charts and every figure: system calls, switches, memory, first byte,\n"
	"                        p99.9, min and max, which are not printed\n"
	"  --json FILE           write every figure and all samples\n"
	"  --markdown FILE       write what is printed. A FILE of - is stdout. compare takes no FILE\n"
	"  --all                 for compare: also list what did not change\n"
	"  --tolerance PERCENT   for compare: ignore smaller changes; default 3\n"
	"\n"
	"Exit status: 0: measured; failed requests are reported as a remark. 1: an error, or a server that does not respond\n"
	"as expected. 2: invalid command line. 130: interrupted; the samples so far are reported and saved.\n"
	"For compare, 1 means that something is worse, and 2 that nothing could be compared.\n"
	"\n"
	"Pin the servers and eddy-bench to separate processors (taskset), and run nothing else there.\n";

int main(int argc, char **argv)
{
	const char *word = argc >= 2 ? argv[1] : "";

	if (strcmp(word, "report") == 0)
		return report_main(argc - 1, argv + 1);
	if (strcmp(word, "compare") == 0)
		return compare_main(argc - 1, argv + 1);
	if (strcmp(word, "help") == 0 || strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
		fputs(manual, stdout);
		return 0;
	}
	if (strcmp(word, "hold") == 0)
		return hold_main(argc, argv);
	return measure_main(argc, argv);
}
