// A client of HTTP/2 by Go's net/http, as node/h2.mjs is one: h2 ORIGIN CA COUNT.
package main

import (
	"bytes"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"sync"
)

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// Return: the body of the response, and the protocol.
func ask(client *http.Client, method string, url string, body []byte) ([]byte, string) {
	request, err := http.NewRequest(method, url, bytes.NewReader(body))
	must(err)
	response, err := client.Do(request)
	must(err)
	defer response.Body.Close()
	got, err := io.ReadAll(response.Body)
	must(err)
	return got, response.Proto
}

func main() {
	origin := os.Args[1]
	pem, err := os.ReadFile(os.Args[2])
	must(err)
	count, err := strconv.Atoi(os.Args[3])
	must(err)
	config := &tls.Config{RootCAs: x509.NewCertPool()}
	config.RootCAs.AppendCertsFromPEM(pem)
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: config, ForceAttemptHTTP2: true}}
	// Requests that begin together would each make a connection.
	_, protocol := ask(client, "GET", origin+"/files/data", nil)
	digests := make([]string, count)
	var all sync.WaitGroup
	for i := range digests {
		all.Add(1)
		go func(i int) {
			defer all.Done()
			body, _ := ask(client, "GET", origin+"/files/data", nil)
			digests[i] = fmt.Sprintf("%x", sha256.Sum256(body))
			ask(client, "PUT", fmt.Sprintf("%s/files/up%d", origin, i), body)
		}(i)
	}
	all.Wait()
	json.NewEncoder(os.Stdout).Encode(map[string]interface{}{"protocol": protocol, "digests": digests})
}
