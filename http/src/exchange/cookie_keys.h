/* cookie_keys.h: the keys of an app's encrypted and signed cookies. */
#ifndef EDDYI_COOKIE_KEYS_H
#define EDDYI_COOKIE_KEYS_H

struct eddyi_cookie_keys;

/* Read the keys; `arg` is a struct eddyi_cookie_keys. Any thread may call it.
 * Return: 0; -EINVAL, and an ERROR record says why. */
int eddyi_cookie_keys_load(void *arg);

/* Get the path of their file; NULL if they are from elsewhere. */
const char *eddyi_cookie_keys_file(const struct eddyi_cookie_keys *keys);

#endif
