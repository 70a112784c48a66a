/* eddy/auth.h: all of eddy's bearer authentication. */
#ifndef EDDY_AUTH_H
#define EDDY_AUTH_H

#include <eddy/bearer.h>
#include <eddy/jwk.h>
#include <eddy/jwt.h>
#include <eddy/keyset.h>
#include <eddy/oauth.h>
#include <eddy/oauth_metadata.h>
#include <eddy/rule.h>

#endif
