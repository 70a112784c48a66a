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
	"eddy-bench get|put|req [NAME=]URL… [OPTION]…    measure; several targets take turns\n"
	"eddy-bench hold URL [-c N] [--stall get|put]    open connections, and keep them until stdin ends\n"
	"eddy-bench report RESULT.json [OPTION]…         say it again, or as a page with charts (--html FILE)\n"
	"eddy-bench compare OLD.json NEW.json [OPTION]… what became worse beyond noise\n"
	"\n"
	"A URL is http[s]://HOST[:PORT]/PATH, or unix:SOCKET:/PATH. In the path {size} is the cell's size (4k,\n"
	"however it is typed), {n} the number of the connection, {i} that of the request. A cell is one size\n"
	"and one number of connections; in each of its rounds every target has one sample.\n"
	"\n"
	"  --sizes 4k,64k,1m     of bodies: get asks for {size}, put makes and sends as much\n"
	"  -c, --connections 1,16,64                  default 1\n"
	"  -d, --depth N         requests on a connection at once (pipelining); default 1\n"
	"  -t, --time S          of a sample; default 1 (seconds, or 500ms)\n"
	"  -r, --rounds N        default 7\n"
	"  --warmup S            before each sample; default 0.1\n"
	"  -R, --rate N          requests a second, whatever the server does (an open loop): how long they take\n"
	"                        counts from when they were due; default: as fast as it answers\n"
	"  -H, --header 'N: V'   a field of every request; may be repeated\n"
	"  -X, --method M        of req; default GET\n"
	"  --body-file FILE      what put and req send\n"
	"  --expect STATUS       what is no error; default: 200 to 299, and 304\n"
	"  --timeout S           without anything that moves; default 10; 30 times of it until all has ended\n"
	"  --verify              read every body, and compare its SHA-256 with the first one's; put: get what was\n"
	"                        sent after each sample, and compare it with that\n"
	"  --digest HEX          with this one\n"
	"  --files DIR           the files that the server sends: are they in the page cache?\n"
	"  --cold                drop them from it before each request (each connection asks once, {n} of its own)\n"
	"  --ca FILE             whom to trust of https://, in place of those whom the system trusts (PEM)\n"
	"  --insecure            trust whoever answers\n"
	"  --ciphers A:B         suites of TLS, in OpenSSL's words; default: all good ones\n"
	"  --resume              each connection resumes the session of one before it, if the server gives tickets;\n"
	"                        default: a full handshake. With -H 'Connection: close' each request has a handshake\n"
	"  --between COMMAND     run by sh before each sample; TARGET is the target's name\n"
	"  --against NAME        the target that the others are held against; default: the first\n"
	"  --pid PID             of the server, where it is not found by its port\n"
	"  --no-system-calls     do not count them, which takes a short run more of each target\n"
	"  --progress            say how far it is, also where stderr is no terminal\n"
	"  --html FILE           a page with charts, and every figure: system calls, switches, memory, first byte,\n"
	"                        p99.9, min and max, which are not printed\n"
	"  --json FILE           the same, and all samples; --markdown FILE: what is printed. - is stdout\n"
	"\n"
	"Exit status: 0: measured, though requests may have failed, as a remark then says; 1: it failed, or a server\n"
	"does not answer as it should; 2: the command line is wrong; 130: interrupted. What was measured until then is\n"
	"reported and kept all the same. compare: 1: something is worse; 2: nothing could be compared.\n"
	"\n"
	"Pin the servers and eddy-bench to processors of their own (taskset), and nothing else to these.\n";

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
