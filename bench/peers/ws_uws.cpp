/* ws_uws: WebSockets that are echoed, and a room, by uWebSockets, which is not packaged. To build it beside
 * clones of uNetworking/uWebSockets and uNetworking/uSockets:
 *
 *     gcc -c -O3 -DLIBUS_NO_SSL -IuSockets/src uSockets/src/[a-z]*.c uSockets/src/eventing/epoll_kqueue.c
 *     g++ -std=c++20 -O3 -DLIBUS_NO_SSL -DUWS_NO_ZLIB -IuSockets/src -IuWebSockets/src ws_uws.cpp *.o -o ws_uws
 *
 *     ws_uws PORT
 */
#include "App.h"

#include <cstdlib>

struct data {};

static uWS::App::WebSocketBehavior<data> behavior()
{
	uWS::App::WebSocketBehavior<data> behavior;

	behavior.compression = uWS::DISABLED;
	behavior.maxPayloadLength = behavior.maxBackpressure = 16 << 20;
	return behavior;
}

int main(int argc, char **argv)
{
	uWS::App::WebSocketBehavior<data> echo = behavior(), room = behavior();
	uWS::App app;

	if (argc != 2)
		return 2;
	echo.message = [](auto *socket, std::string_view bytes, uWS::OpCode type) { socket->send(bytes, type); };
	room.open = [](auto *socket) { socket->subscribe("all"); };
	room.message = [&app](auto *, std::string_view bytes, uWS::OpCode type) { app.publish("all", bytes, type); };
	app.ws<data>("/echo", std::move(echo));
	app.ws<data>("/room", std::move(room));
	app.get("/hello", [](auto *response, auto *) { response->end("Hello, World!"); });
	app.listen("127.0.0.1", std::atoi(argv[1]), [](auto *socket) {
		if (!socket)
			std::exit(1);
	});
	app.run();
}
