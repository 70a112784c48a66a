/* eddy-bench: measures servers of HTTP, and says what came of it.
 *
 *     eddy-bench report RESULT.json
 *     eddy-bench compare OLD.json NEW.json
 */
#include "report.h"

#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
	if (argc >= 2 && strcmp(argv[1], "report") == 0)
		return report_main(argc - 1, argv + 1);
	fputs("usage: eddy-bench report RESULT.json [--json FILE]\n", stderr);
	return 2;
}
