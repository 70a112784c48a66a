/* Tests of eddy/internal/proc.h. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <eddy/internal/proc.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

Test(proc, reads_a_file_as_a_string)
{
	char text[256], wanted[32];
	ssize_t len = eddyi_proc_read(text, sizeof(text), "/proc/%d/stat", (int)getpid());

	cr_assert(gt(int, (int)len, 0));
	cr_expect(eq(int, (int)strlen(text), (int)len));
	snprintf(wanted, sizeof(wanted), "%d (", (int)getpid());
	cr_expect(zero(int, strncmp(text, wanted, strlen(wanted))));
}

Test(proc, reads_no_more_than_fits)
{
	char text[8];

	cr_expect(eq(int, (int)eddyi_proc_read(text, sizeof(text), "/proc/self/status"), 7));
	/* Under valgrind the process has another name. */
	cr_expect(zero(int, strncmp(text, "Name:\t", 6)));
}

Test(proc, returns_an_error_and_an_empty_string)
{
	char text[8] = "before";

	cr_expect(eq(int, (int)eddyi_proc_read(text, sizeof(text), "/proc/self/none"), -ENOENT));
	cr_expect(eq(str, text, ""));
	text[0] = 'a';
	cr_expect(eq(int, (int)eddyi_proc_read(text, sizeof(text), "/proc/self"), -EISDIR));
	cr_expect(eq(str, text, ""));
}
