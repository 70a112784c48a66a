#include "nearest.h"

#define NAME_MAX_LEN 64

static unsigned least(unsigned a, unsigned b, unsigned c)
{
	unsigned ab = a < b ? a : b;

	return ab < c ? ab : c;
}

/* Compute the Levenshtein distance, with one row of the table. */
static unsigned distance(struct eddy_str a, struct eddy_str b)
{
	unsigned row[NAME_MAX_LEN + 1];

	for (unsigned j = 0; j <= b.len; j++)
		row[j] = j;
	for (unsigned i = 1; i <= a.len; i++) {
		unsigned diagonal = row[0];

		row[0] = i;
		for (unsigned j = 1; j <= b.len; j++) {
			unsigned above = row[j];

			row[j] = least(above + 1, row[j - 1] + 1,
				       diagonal + (a.ptr[i - 1] != b.ptr[j - 1]));
			diagonal = above;
		}
	}
	return row[b.len];
}

void eddyi_nearest_try(struct eddyi_nearest *nearest, const char *name)
{
	struct eddy_str str = eddy_str_from(name);
	unsigned found;

	if (str.len > NAME_MAX_LEN || nearest->wanted.len > NAME_MAX_LEN)
		return;
	found = distance(nearest->wanted, str);
	if (3 * found > str.len || (nearest->name && found >= nearest->distance))
		return;
	nearest->name = name;
	nearest->distance = found;
}
