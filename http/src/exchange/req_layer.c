/* Memory of layers for a request. */
#include "req.h"

#include <eddy/layer.h>

struct eddyi_req_kept {
	struct eddyi_req_kept *next;
	const struct eddy_req_layer *layer;
	_Alignas(max_align_t) char memory[];
};

void *eddy_req_find_layer(const struct eddy_req *req, const struct eddy_req_layer *layer)
{
	struct eddyi_req_kept *kept = req->kept;

	while (kept && kept->layer != layer)
		kept = kept->next;
	return kept ? kept->memory : NULL;
}

void *eddy_req_layer(struct eddy_req *req, const struct eddy_req_layer *layer)
{
	void *memory = eddy_req_find_layer(req, layer);
	struct eddyi_req_kept *kept;

	if (memory)
		return memory;
	kept = eddyi_arena_alloc(&req->arena, sizeof(*kept) + layer->size);
	if (!kept)
		return NULL;
	kept->next = req->kept;
	kept->layer = layer;
	req->kept = kept;
	return memset(kept->memory, 0, layer->size);
}

void eddyi_req_layers_deinit(struct eddy_req *req)
{
	for (; req->kept; req->kept = req->kept->next)
		if (req->kept->layer->deinit)
			req->kept->layer->deinit(req->kept->memory);
}
