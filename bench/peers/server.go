// server is what one writes with Go's net/http: a folder for download (by sendfile) and upload, and /hello.
//
//	server PORT FILES UPLOADS [CERTIFICATE KEY [h2]]
package main

import (
	"crypto/tls"
	"io"
	"log"
	"net/http"
	"os"
	"path/filepath"
)

var hello = []byte("Hello, World!")

func answerHello(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/plain")
	w.Write(hello)
}

// Into a hidden file, which gets its name when it is whole.
func save(folder string, r *http.Request) error {
	file, err := os.CreateTemp(folder, ".upload-")
	if err != nil {
		return err
	}
	defer file.Close()
	if _, err = io.Copy(file, r.Body); err == nil {
		err = os.Rename(file.Name(), filepath.Join(folder, filepath.Base(r.URL.Path)))
	}
	if err != nil {
		os.Remove(file.Name())
	}
	return err
}

func main() {
	port, files, uploads := os.Args[1], os.Args[2], os.Args[3]
	mux := http.NewServeMux()
	mux.HandleFunc("/hello", answerHello)
	mux.Handle("/files/", http.StripPrefix("/files/", http.FileServer(http.Dir(files))))
	mux.HandleFunc("/up/", func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPut {
			w.WriteHeader(http.StatusMethodNotAllowed)
		} else if err := save(uploads, r); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
		} else {
			w.WriteHeader(http.StatusCreated)
		}
	})
	server := &http.Server{Addr: "127.0.0.1:" + port, Handler: mux}
	if len(os.Args) > 5 {
		if len(os.Args) == 6 {
			// HTTP/1.1 alone, as the others speak.
			server.TLSNextProto = map[string]func(*http.Server, *tls.Conn, http.Handler){}
		}
		log.Fatal(server.ListenAndServeTLS(os.Args[4], os.Args[5]))
	}
	log.Fatal(server.ListenAndServe())
}
