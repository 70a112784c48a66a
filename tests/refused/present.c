/* A flag that is no bool.
 * expect: EDDY_PRESENT\(\) takes a member that is a bool
 */
#include <eddy/http.h>

struct post {
	double price;
	int has_price;
};

const struct eddy_member post_members[] = {
	EDDY_MEMBER(struct post, price, .present = EDDY_PRESENT(struct post, has_price)),
};
