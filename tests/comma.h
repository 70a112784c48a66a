/* comma.h: a locale in which the point is a comma, for the tests of whatever writes or reads numbers. */
#ifndef COMMA_H
#define COMMA_H

#include <criterion/criterion.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

/* Make a locale that has a comma for the point, and switch to it. Return: false where none can be made. */
static inline bool switch_to_comma(void)
{
	char folder[] = "/tmp/eddy-locale-XXXXXX", command[512];
	bool switched;

	cr_assert_neq(mkdtemp(folder), NULL);
	/* It complains of all that is missing. */
	snprintf(command, sizeof(command),
		 "cd %s && printf 'LC_NUMERIC\\ndecimal_point \",\"\\nthousands_sep \"\"\\n"
		 "grouping -1\\nEND LC_NUMERIC\\n' >of && "
		 "localedef -c -i of -f ANSI_X3.4-1968 ./xx_XX >said 2>&1",
		 folder);
	(void)!system(command);
	setenv("LOCPATH", folder, 1);
	switched = setlocale(LC_NUMERIC, "xx_XX") != NULL;
	snprintf(command, sizeof(command), "rm -r %s", folder);
	cr_expect_eq(system(command), 0);
	return switched;
}

#endif
