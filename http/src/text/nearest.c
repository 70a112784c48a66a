#include "nearest.h"

#define NAME_MAX_LEN 64

static unsigned least(unsigned a, unsigned b, unsigned c)
{
	unsigned ab = a < b ? a : b;

	return ab < c ? ab : c;
}

/* Compute the Damerau-Levenshtein distance (optimal string alignment), with three rows of the table.
 * Swapping two neighbours counts once. */
static unsigned distance(struct eddy_str a, struct eddy_str b)
{
	unsigned rows[3][NAME_MAX_LEN + 1];

	for (unsigned j = 0; j <= b.len; j++)
		rows[0][j] = j;
	for (unsigned i = 1; i <= a.len; i++) {
		const unsigned *before = rows[(i - 1) % 3];
		unsigned *row = rows[i % 3];

		row[0] = i;
		for (unsigned j = 1; j <= b.len; j++) {
			bool is_swapped = i > 1 && j > 1 && a.ptr[i - 1] == b.ptr[j - 2] &&
					  a.ptr[i - 2] == b.ptr[j - 1];

			row[j] = least(before[j] + 1, row[j - 1] + 1,
				       before[j - 1] + (a.ptr[i - 1] != b.ptr[j - 1]));
			if (is_swapped && row[j] > rows[(i - 2) % 3][j - 2] + 1)
				row[j] = rows[(i - 2) % 3][j - 2] + 1;
		}
	}
	return rows[a.len % 3][b.len];
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
