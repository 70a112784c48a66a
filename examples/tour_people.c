/* JSON into structs and back by tables of members, and the document of the whole interface. */
#include "tour.h"

struct address {
	struct eddy_str street;
	struct eddy_str zip;
};

struct person {
	struct eddy_str name;
	uint32_t age;
	struct address address;
	struct eddy_str *tags;
	size_t tag_count;
};

static const struct eddy_member address_members[] = {
	EDDY_MEMBER(struct address, street, .strict = true),
	EDDY_MEMBER(struct address, zip),
};

static const struct eddy_member person_members[] = {
	EDDY_MEMBER(struct person, name, .strict = true),
	EDDY_MEMBER(struct person, age),
	EDDY_OBJECT(struct person, address, .of = EDDY_SHAPE(struct address, address_members)),
	EDDY_ARRAY(struct person, tags, tag_count),
};

static const struct eddy_operation add_person = {
	.summary = "Checks a person, and sends it back.",
	.body = EDDY_SHAPE(struct person, person_members),
	.body_example = "{\"name\":\"Ada\",\"age\":36,\"address\":{\"street\":\"Lane\","
			"\"zip\":\"10115\"},\"tags\":[\"first\"]}",
	.responses = {
		{ 200, "The person.", .shape = EDDY_SHAPE(struct person, person_members) },
		{ 400, .description = "The body is not JSON." },
		{ 422, .description = "The values are wrong: `errors` lists them." },
	},
};

/* POST /people */
static int people(struct eddy_req *req, struct eddy_res *res)
{
	struct person person;
	int r = eddy_req_json_into(req, person_members, &person);

	if (r < 0)
		return r == -EINVAL ? 422 : r;
	return eddy_res_json_from(res, person_members, &person);
}

void tour_map_people(struct eddy_app *app)
{
	eddy_route_describe(eddy_app_map_post(app, "/people", people), &add_person);
	eddy_app_use_openapi(app, &(struct eddy_openapi_options){ .title = "tour" });
}
