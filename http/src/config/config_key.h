/* config_key.h: what a key of a configuration file may be, and the member that it sets. */
#ifndef EDDYI_CONFIG_KEY_H
#define EDDYI_CONFIG_KEY_H

#include "text/arena.h"
#include "toml.h"

#include <eddy/config.h>

#define EDDYI_EXPECTED_SIZE 256

/* Whether the member has the size that the key's type asks for. */
bool eddyi_config_key_fits(const struct eddy_config_key *key);

/* Say what is expected in `target`: "an integer from 1 to 10". Return: `buf`. */
const char *eddyi_config_key_expected(const struct eddy_config_key *key, const void *target,
				      char buf[EDDYI_EXPECTED_SIZE]);

/* Where paths begin, and who keeps what is pointed to. */
struct eddyi_config_keep {
	struct eddy_str folder; /* with the slash; empty for the current one */
	struct eddyi_arena *arena;
};

/* Set the key's member in `target`.
 * Return: 0; -EINVAL when the value is not as expected, `*ret_bad` is it or an element of it; -ENOMEM. */
int eddyi_config_key_set(const struct eddy_config_key *key, const struct eddyi_toml *value,
			 const struct eddyi_config_keep *keep, void *target,
			 const struct eddyi_toml **ret_bad);

#endif
