/* A member of a type that no text is parsed into.
 * expect: EDDY_MEMBER\(\) takes members that are integers, enums, double, bool, struct eddy_time or struct eddy_str
 */
#include <eddy/http.h>

struct post {
	const char *slug;
};

const struct eddy_member post_members[] = {
	EDDY_MEMBER(struct post, slug),
};
