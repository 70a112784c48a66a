// A TLS tunnel by Go's crypto/tls, which tests connect through.
//
//	tunnel client|server TARGET VERSION SUITE CA|CERT KEY
//
// It prints its port, and for each connection "VERSION SUITE RESUMED ALPN". As a client it takes plain connections and speaks TLS with
// TARGET, a port of localhost; as a server the other way round. Go chooses the suites of TLS 1.3 itself.
package main

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"os"
)

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func pump(plain *net.TCPConn, session *tls.Conn) {
	done := make(chan bool)
	go func() {
		io.Copy(session, plain)
		session.CloseWrite()
		done <- true
	}()
	io.Copy(plain, session)
	plain.CloseWrite()
	<-done
	plain.Close()
	session.Close()
}

func handle(near *net.TCPConn, isServer bool, target string, config *tls.Config) {
	far, err := net.Dial("tcp", target)
	must(err)
	plain, session := near, (*tls.Conn)(nil)
	if isServer {
		plain, session = far.(*net.TCPConn), tls.Server(near, config)
	} else {
		session = tls.Client(far, config)
	}
	if err := session.Handshake(); err != nil {
		fmt.Println("failed", err)
		near.Close()
		far.Close()
		return
	}
	state := session.ConnectionState()
	version := map[uint16]string{tls.VersionTLS12: "TLSv1.2", tls.VersionTLS13: "TLSv1.3"}[state.Version]
	fmt.Println(version, tls.CipherSuiteName(state.CipherSuite), state.DidResume, state.NegotiatedProtocol)
	pump(plain, session)
}

func main() {
	isServer, target, version, suite := os.Args[1] == "server", "127.0.0.1:"+os.Args[2], os.Args[3], os.Args[4]
	number := map[string]uint16{"TLSv1.2": tls.VersionTLS12, "TLSv1.3": tls.VersionTLS13}[version]
	config := &tls.Config{MinVersion: number, MaxVersion: number, NextProtos: []string{"http/1.1"}, ServerName: "localhost",
		ClientSessionCache: tls.NewLRUClientSessionCache(4)}
	for _, known := range tls.CipherSuites() {
		if known.Name == suite {
			config.CipherSuites = []uint16{known.ID}
		}
	}
	if isServer {
		pair, err := tls.LoadX509KeyPair(os.Args[5], os.Args[6])
		must(err)
		config.Certificates = []tls.Certificate{pair}
	} else {
		pem, err := os.ReadFile(os.Args[5])
		must(err)
		config.RootCAs = x509.NewCertPool()
		config.RootCAs.AppendCertsFromPEM(pem)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(err)
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	for {
		near, err := listener.Accept()
		must(err)
		go handle(near.(*net.TCPConn), isServer, target, config)
	}
}
