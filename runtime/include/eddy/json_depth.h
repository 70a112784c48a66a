/* eddy/json_depth.h: how deep a JSON text goes, known before a parser that recurses is given it. */
#ifndef EDDY_JSON_DEPTH_H
#define EDDY_JSON_DEPTH_H

#include <eddy/str.h>

EDDY_BEGIN_DECLS

/* Count how deep arrays and objects stand in one another: 0 without any. Of a text that is no JSON, it is at
 * least as deep as a parser gets that stops at the first mistake. Never suspends. */
EDDY_API unsigned eddy_json_depth(struct eddy_str text);

EDDY_END_DECLS

#endif
