/* counted: a program's own metrics beside those of eddy, for Prometheus.
 *
 *     $ counted localhost:7878 &
 *     2026-11-21T09:00:00.000000Z  INFO eddy::app: Listening on localhost:7878
 *     $ curl -s localhost:7878/articles -d 'kind=book&cents=1299'; curl -s localhost:7878/articles -d 'kind=pen&cents=99'
 *     $ curl -s localhost:7878/metrics | grep ^shop
 *     shop_price_euros_bucket{le="1"} 1
 *     shop_price_euros_bucket{le="10"} 1
 *     shop_price_euros_bucket{le="100"} 2
 *     shop_price_euros_bucket{le="+Inf"} 2
 *     shop_price_euros_sum 13.98
 *     shop_price_euros_count 2
 *     shop_articles_sold_total{kind="book"} 1
 *     shop_articles_sold_total{kind="pen"} 1
 *     $ curl -s localhost:7878/metrics | grep 'requests_total{.*articles.*2xx'
 *     eddy_http_requests_total{method="POST",route="/articles",status="2xx"} 2
 */
#include <eddy/http.h>
#include <eddy/metrics.h>

enum kind { BOOK, PEN, KINDS };

static const char *const kinds[] = { "book", "pen", NULL };
static struct eddy_metric *sold[KINDS], *price;

struct sale {
	int kind;
	uint32_t cents;
};

static const struct eddy_member sale_members[] = {
	EDDY_MEMBER(struct sale, kind, .names = kinds),
	EDDY_MEMBER(struct sale, cents, .range = { 1, 1000000 }),
};

/* One time series for each known kind: input of clients never becomes a label. */
static int declare(void)
{
	static const uint64_t bounds[] = { 100, 1000, 10000 };
	int r = eddy_metric_declare(
		&(struct eddy_metric_options){
			.name = "shop_price_euros",
			.help = "What an article was sold for.",
			.type = EDDY_METRIC_HISTOGRAM,
			.decimals = 2,
			.bounds = bounds,
			.bound_count = sizeof(bounds) / sizeof(*bounds),
		},
		&price);

	for (int kind = 0; kind < KINDS && r == 0; kind++)
		r = eddy_metric_declare(
			&(struct eddy_metric_options){
				.name = "shop_articles_sold_total",
				.help = "Articles that were sold.",
				.labels = EDDY_METRIC_LABELS({ "kind", kinds[kind] }),
			},
			&sold[kind]);
	return r;
}

/* POST /articles */
static int sell(struct eddy_req *req, struct eddy_res *res)
{
	struct sale sale;
	int r = eddy_req_form_into(req, sale_members, &sale);

	if (r < 0)
		return r;
	eddy_metric_add(sold[sale.kind], 1);
	eddy_metric_observe(price, sale.cents);
	return eddy_res_no_content(res);
}

int main(int argc, char **argv)
{
	struct eddy_app *app = eddy_app_new();

	if (declare() < 0)
		return 1;
	eddy_log_text_subscribe();
	eddy_app_bind(app, argc > 1 ? argv[1] : "localhost:7878");
	eddy_app_use_metrics(app);
	eddy_app_map_get(app, "/metrics", eddy_metrics);
	eddy_app_map_post(app, "/articles", sell);
	return eddy_app_run_blocking(app) < 0 ? 1 : 0;
}
