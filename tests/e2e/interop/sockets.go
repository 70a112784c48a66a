// A peer of eddy's WebSockets by golang.org/x/net, as node/sockets.mjs is one: talk URL [CA], serve [CERT KEY].
//
// That library does not join fragments, does not compress, and tells nobody about close codes and pongs.
package main

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	neturl "net/url"
	"os"
	"strconv"
	"strings"

	"golang.org/x/net/websocket"
)

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// A message or control frame as it is on the wire.
type frame struct {
	kind byte
	data []byte
}

var frames = websocket.Codec{
	Marshal: func(v interface{}) ([]byte, byte, error) { return v.(frame).data, v.(frame).kind, nil },
	Unmarshal: func(data []byte, kind byte, v interface{}) error {
		*v.(*frame) = frame{kind, data}
		return nil
	},
}

func closing(code int, reason string) frame {
	return frame{websocket.CloseFrame, append([]byte{byte(code >> 8), byte(code)}, reason...)}
}

func dial(url string, ca []string, protocols ...string) (*websocket.Conn, error) {
	config, err := websocket.NewConfig(url, "http://localhost")
	must(err)
	config.Origin = &neturl.URL{Scheme: "http", Host: config.Location.Host}
	config.Protocol = protocols
	if len(ca) > 0 {
		pem, err := os.ReadFile(ca[0])
		must(err)
		config.TlsConfig = &tls.Config{RootCAs: x509.NewCertPool()}
		config.TlsConfig.RootCAs.AppendCertsFromPEM(pem)
	}
	return websocket.DialConfig(config)
}

// Whether nothing comes but the end.
func isOver(ws *websocket.Conn) bool {
	var got frame
	return frames.Receive(ws, &got) == io.EOF
}

func talk(url string, ca []string) {
	ws, err := dial(url+"/echo", ca, "x", "echo")
	must(err)
	echoed := 0
	for _, size := range []int{0, 1, 125, 126, 65535, 65536, 1 << 20} {
		for _, kind := range []byte{websocket.TextFrame, websocket.BinaryFrame} {
			var got frame
			sent := frame{kind, bytes.Repeat([]byte{'*'}, size)}
			must(frames.Send(ws, frame{websocket.PingFrame, []byte("are you there?")}))
			must(frames.Send(ws, sent))
			must(frames.Receive(ws, &got))
			if got.kind == kind && bytes.Equal(got.data, sent.data) {
				echoed++
			}
		}
	}
	must(frames.Send(ws, closing(3000, "bye")))
	other, err := dial(url+"/close", ca)
	must(err)
	must(websocket.Message.Send(other, "4001 as you wish"))
	_, refused := dial(url+"/nowhere", ca)
	facts, err := json.Marshal(map[string]interface{}{"echoed": echoed, "protocol": ws.Config().Protocol[0], "extensions": "",
		"mine": isOver(ws), "theirs": isOver(other), "refused": fmt.Sprint(refused)})
	must(err)
	fmt.Println(string(facts))
}

func echo(ws *websocket.Conn) {
	defer ws.Close()
	for {
		var got frame
		if frames.Receive(ws, &got) != nil {
			return
		}
		words := strings.SplitN(string(got.data), " ", 3)
		if got.kind == websocket.TextFrame && words[0] == "close" && len(words) == 3 {
			code, err := strconv.Atoi(words[1])
			must(err)
			frames.Send(ws, closing(code, words[2]))
			return
		}
		if got.kind == websocket.TextFrame && words[0] == "ping" {
			frames.Send(ws, frame{websocket.PingFrame, []byte("p")})
		}
		frames.Send(ws, got)
	}
}

func choose(config *websocket.Config, _ *http.Request) error {
	for _, protocol := range config.Protocol {
		if protocol == "echo" {
			config.Protocol = []string{protocol}
			return nil
		}
	}
	config.Protocol = nil
	return nil
}

func serve(files []string) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(err)
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	server := websocket.Server{Handler: echo, Handshake: choose}
	if len(files) > 0 {
		must(http.ServeTLS(listener, server, files[0], files[1]))
	}
	must(http.Serve(listener, server))
}

func main() {
	if os.Args[1] == "serve" {
		serve(os.Args[2:])
	} else {
		talk(os.Args[2], os.Args[3:])
	}
}
