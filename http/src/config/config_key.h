/* config_key.h: checks the values of a configuration file's keys, and sets the members. */
#ifndef EDDYI_CONFIG_KEY_H
#define EDDYI_CONFIG_KEY_H

#include "text/arena.h"
#include "toml.h"

#include <eddy/config.h>

#define EDDYI_EXPECTED_SIZE 256

/* Whether the member has the size of the key's type. */
bool eddyi_config_key_fits(const struct eddy_config_key *key);

/* Describe the valid values of a key in `target`: "an integer from 1 to 10". Return: `buf`. */
const char *eddyi_config_key_expected(const struct eddy_config_key *key, const void *target,
				      char buf[EDDYI_EXPECTED_SIZE]);

/* The base of relative paths, and the memory of strings. */
struct eddyi_config_keep {
	struct eddy_str folder; /* with a slash; empty for the current folder */
	struct eddyi_arena *arena;
};

/* Set the key's member in `target`.
 * Return: 0; -EINVAL if the value or an element of it, `*ret_bad`, is invalid; -ENOMEM. */
int eddyi_config_key_set(const struct eddy_config_key *key, const struct eddyi_toml *value,
			 const struct eddyi_config_keep *keep, void *target,
			 const struct eddyi_toml **ret_bad);

#endif
