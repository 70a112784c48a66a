// The drop box of ../SPEC.md, with Go 1.19 and the packages of Debian 12.
package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/BurntSushi/toml"
	"github.com/coreos/go-systemd/daemon"
	"github.com/go-chi/chi"
	"github.com/go-chi/chi/middleware"
	"github.com/golang-jwt/jwt"
	lru "github.com/hashicorp/golang-lru"
	"github.com/jackc/pgconn"
	"github.com/jackc/pgx/v4"
	"github.com/jackc/pgx/v4/pgxpool"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/rs/cors"
	"github.com/rs/zerolog"
	"github.com/rs/zerolog/hlog"
	"github.com/rs/zerolog/log"
	"golang.org/x/time/rate"
)

var (
	uploads = promauto.NewCounter(prometheus.CounterOpts{Name: "dropbox_uploads_total", Help: "Files stored."})
	stored  = promauto.NewCounter(prometheus.CounterOpts{Name: "dropbox_bytes_total", Help: "Bytes stored."})
	seconds = promauto.NewHistogramVec(prometheus.HistogramOpts{
		Name: "http_request_duration_seconds", Help: "Time of requests.", Buckets: prometheus.DefBuckets,
	}, []string{"method", "route", "status"})
)

// ---- configuration

type config struct {
	Server struct {
		Bind         string
		DrainTimeout int64 `toml:"drain_timeout_ms"`
	}
	Dropbox struct {
		DataDir  string `toml:"data_dir"`
		Database string
		Quota    int64
		Rate     int
		Burst    int
		ScanURL  string `toml:"scan_url"`
	}
	Bearer struct {
		SecretFile string `toml:"secret_file"`
	}
}

func readConfig(path string) (*config, []byte, error) {
	var c config
	c.Server.Bind, c.Server.DrainTimeout = "localhost:7979", 10000
	c.Dropbox.DataDir, c.Dropbox.Quota, c.Dropbox.Rate, c.Dropbox.Burst = "data", 1<<30, 50, 100
	meta, err := toml.DecodeFile(path, &c)
	if err != nil {
		return nil, nil, err
	}
	if unknown := meta.Undecoded(); len(unknown) > 0 {
		return nil, nil, fmt.Errorf("%s: unknown keys %v", path, unknown)
	}
	if c.Dropbox.Database == "" || c.Bearer.SecretFile == "" || c.Dropbox.Quota < 1 || c.Dropbox.Rate < 1 || c.Dropbox.Burst < 1 {
		return nil, nil, fmt.Errorf("%s: database and secret_file are required; quota, rate and burst are at least 1", path)
	}
	for _, p := range []*string{&c.Dropbox.DataDir, &c.Bearer.SecretFile} {
		if !filepath.IsAbs(*p) {
			*p = filepath.Join(filepath.Dir(path), *p)
		}
	}
	secret, err := os.ReadFile(c.Bearer.SecretFile)
	if err == nil && len(secret) < 32 {
		err = fmt.Errorf("%s: a secret has at least 32 bytes", c.Bearer.SecretFile)
	}
	return &c, secret, err
}

// ---- responses

type fault struct {
	Pointer string `json:"pointer"`
	Detail  string `json:"detail"`
}

// A problem is an error with a status for the client (RFC 9457).
type problem struct {
	Type   string  `json:"type"`
	Title  string  `json:"title"`
	Status int     `json:"status"`
	Detail string  `json:"detail"`
	Errors []fault `json:"errors,omitempty"`
}

func (p *problem) Error() string { return p.Detail }

func fail(status int, format string, args ...any) *problem {
	return &problem{Type: "about:blank", Title: http.StatusText(status), Status: status, Detail: fmt.Sprintf(format, args...)}
}

func reply(w http.ResponseWriter, status int, contentType string, v any) {
	w.Header().Set("Content-Type", contentType)
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(v)
}

func refuse(w http.ResponseWriter, r *http.Request, err error) {
	var p *problem
	if !errors.As(err, &p) {
		hlog.FromRequest(r).Error().Err(err).Msg("request failed")
		p = fail(500, "the server failed to handle the request")
	}
	reply(w, p.Status, "application/problem+json", p)
}

type handler func(w http.ResponseWriter, r *http.Request) error

func (h handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if err := h(w, r); err != nil {
		refuse(w, r, err)
	}
}

// param is a decoded parameter of the path: chi matches the escaped path if there is one.
func param(r *http.Request, name string) (string, error) {
	value := chi.URLParam(r, name)
	if r.URL.RawPath != "" {
		value, _ = url.PathUnescape(value) // the server has parsed it
	}
	if !utf8.ValidString(value) || strings.ContainsRune(value, 0) {
		return "", fail(400, "the path parameter %q is malformed", name)
	}
	return value, nil
}

func number(r *http.Request, name string, least, most, otherwise int64) (int64, error) {
	text := r.URL.Query().Get(name)
	if text == "" {
		return otherwise, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < least || n > most {
		return 0, fail(400, "the query parameter %q must be an integer from %d to %d", name, least, most)
	}
	return n, nil
}

// ---- the service

type job struct {
	id            int64
	stored, owner string
}

type service struct {
	config   *config
	db       *pgxpool.Pool
	jobs     chan job
	stopping chan struct{}

	mu        sync.Mutex
	listeners map[chan string]string // and their users
}

var tables = []string{
	"CREATE TABLE IF NOT EXISTS users (name text PRIMARY KEY, email text NOT NULL, quota bigint NOT NULL)",
	`CREATE TABLE IF NOT EXISTS files (id bigserial PRIMARY KEY, owner text REFERENCES users, name text, size bigint,
	 stored text, type text, sha256 text, UNIQUE (owner, name))`,
}

func open(c *config) (*service, error) {
	pool, err := pgxpool.ParseConfig(c.Dropbox.Database)
	if err != nil {
		return nil, err
	}
	pool.MaxConns = 4
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	db, err := pgxpool.ConnectConfig(ctx, pool)
	if err != nil {
		return nil, err
	}
	for _, table := range tables {
		if _, err := db.Exec(ctx, table); err != nil {
			return nil, err
		}
	}
	if err := os.MkdirAll(c.Dropbox.DataDir, 0700); err != nil {
		return nil, err
	}
	unfinished, _ := filepath.Glob(filepath.Join(c.Dropbox.DataDir, ".upload-*"))
	for _, path := range unfinished {
		os.Remove(path)
	}
	return &service{config: c, db: db, jobs: make(chan job, 1000), stopping: make(chan struct{}), listeners: map[chan string]string{}}, nil
}

func (s *service) path(stored string) string { return filepath.Join(s.config.Dropbox.DataDir, stored) }

// row runs a statement that returns one row; without one, pgx.ErrNoRows.
func (s *service) row(ctx context.Context, sql string, args []any, dest ...any) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	return databaseError(s.db.QueryRow(ctx, sql, args...).Scan(dest...))
}

// databaseError makes a 503 of errors that are not about the statement: no connection, or too late.
func databaseError(err error) error {
	var pe *pgconn.PgError
	if err == nil || errors.Is(err, pgx.ErrNoRows) {
		return err
	}
	if errors.As(err, &pe) && !strings.HasPrefix(pe.Code, "57") && !strings.HasPrefix(pe.Code, "53") {
		return err
	}
	log.Error().Err(err).Msg("database")
	return fail(503, "the database is not available; try again later")
}

func isDuplicate(err error) bool {
	var pe *pgconn.PgError
	return errors.As(err, &pe) && pe.Code == "23505"
}

// ---- users

func (s *service) createUser(w http.ResponseWriter, r *http.Request) error {
	var u struct {
		Name  *string `json:"name"`
		Email *string `json:"email"`
		Quota *int64  `json:"quota"`
	}
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return fail(415, "the body must be application/json")
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		return fail(413, "the body exceeds the size limit")
	} else if err != nil {
		return fail(400, "the body ended early")
	}
	if err := json.Unmarshal(body, &u); err != nil {
		p := fail(400, "the body is not a valid user: %v", err)
		var wrong *json.UnmarshalTypeError
		if errors.As(err, &wrong) {
			p.Errors = []fault{{"#/" + wrong.Field, "must be of type " + wrong.Type.String()}}
		}
		return p
	}
	var faults []fault
	text := func(name string, value *string, least, most int) {
		if value == nil || len(*value) < least || len(*value) > most || strings.ContainsRune(*value, 0) {
			faults = append(faults, fault{"#/" + name, fmt.Sprintf("must be text of %d to %d bytes", least, most)})
		}
	}
	text("name", u.Name, 1, 64)
	text("email", u.Email, 3, 200)
	if u.Quota == nil {
		u.Quota = &s.config.Dropbox.Quota
	} else if *u.Quota < 1 || *u.Quota > 1e12 {
		faults = append(faults, fault{"#/quota", "must be an integer from 1 to 1000000000000"})
	}
	if faults != nil {
		p := fail(400, "%s %s", faults[0].Pointer, faults[0].Detail)
		p.Errors = faults
		return p
	}
	err = s.row(r.Context(), "INSERT INTO users VALUES ($1, $2, $3) RETURNING name", []any{*u.Name, *u.Email, *u.Quota}, u.Name)
	if isDuplicate(err) {
		return fail(409, "there is a user of this name")
	} else if err != nil {
		return err
	}
	w.Header().Set("Location", "/users/"+url.PathEscape(*u.Name))
	reply(w, 201, "application/json", map[string]string{"name": *u.Name, "email": *u.Email})
	return nil
}

func (s *service) getUser(w http.ResponseWriter, r *http.Request) error {
	var u struct {
		Name  string `json:"name"`
		Email string `json:"email"`
		Quota int64  `json:"quota"`
		Used  int64  `json:"used"`
	}
	name, err := param(r, "name")
	if err != nil {
		return err
	}
	err = s.row(r.Context(), `SELECT u.name, u.email, u.quota, coalesce(sum(f.size), 0)::bigint FROM users u
		LEFT JOIN files f ON f.owner = u.name WHERE u.name = $1 GROUP BY 1, 2, 3`, []any{name}, &u.Name, &u.Email, &u.Quota, &u.Used)
	if errors.Is(err, pgx.ErrNoRows) {
		return fail(404, "no such user")
	} else if err != nil {
		return err
	}
	reply(w, 200, "application/json", u)
	return nil
}

// ---- files

func (s *service) putFile(w http.ResponseWriter, r *http.Request) error {
	user := caller(r)
	name, err := param(r, "name")
	if err != nil {
		return err
	}
	var left int64
	err = s.row(r.Context(), `SELECT quota - coalesce((SELECT sum(size) FROM files WHERE owner = $1), 0)::bigint
		FROM users WHERE name = $1`, []any{user}, &left)
	if errors.Is(err, pgx.ErrNoRows) {
		return fail(403, "there is no user of this name")
	} else if err != nil {
		return err
	}
	if left <= 0 {
		return fail(507, "your quota is used up")
	}
	if r.ContentLength > left {
		return fail(507, "only %d bytes of your quota are left", left)
	}
	f := job{stored: randomName(), owner: user}
	size, err := s.save(f.stored, http.MaxBytesReader(w, r.Body, left))
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		return fail(507, "only %d bytes of your quota are left", left)
	} else if err != nil {
		return err
	}
	contentType := r.Header.Get("Content-Type")
	if contentType == "" {
		contentType = "application/octet-stream"
	}
	// Not the context of the request: a client that leaves must not separate the row from its file.
	err = s.row(context.Background(), "INSERT INTO files (owner, name, size, stored, type) VALUES ($1, $2, $3, $4, $5) RETURNING id",
		[]any{user, name, size, f.stored, contentType}, &f.id)
	if err != nil {
		os.Remove(s.path(f.stored))
		if isDuplicate(err) {
			return fail(409, "you have a file of this name")
		}
		return err
	}
	select {
	case s.jobs <- f:
	default:
		log.Warn().Int64("file", f.id).Msg("the queue is full, the file has no checksum")
	}
	uploads.Inc()
	stored.Add(float64(size))
	s.publish(user, map[string]any{"id": f.id, "state": "stored"})
	reply(w, 201, "application/json", map[string]any{"id": f.id, "name": name, "size": size})
	return nil
}

func randomName() string {
	id := make([]byte, 16)
	if _, err := rand.Read(id); err != nil {
		panic(err)
	}
	return hex.EncodeToString(id)
}

// save writes a file under a hidden name first, so that killed uploads are found at the next start.
func (s *service) save(name string, body io.Reader) (int64, error) {
	file, err := os.CreateTemp(s.config.Dropbox.DataDir, ".upload-*")
	if err != nil {
		return 0, err
	}
	size, err := io.Copy(file, body)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = fail(400, "the body ended early")
	}
	if closed := file.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(file.Name(), s.path(name))
	}
	if err != nil {
		os.Remove(file.Name())
	}
	return size, err
}

func (s *service) getFile(w http.ResponseWriter, r *http.Request) error {
	var stored, contentType string
	name, err := param(r, "name")
	if err != nil {
		return err
	}
	err = s.row(r.Context(), "SELECT stored, type FROM files WHERE owner = $1 AND name = $2", []any{caller(r), name}, &stored, &contentType)
	if errors.Is(err, pgx.ErrNoRows) {
		return fail(404, "you have no file of this name")
	} else if err != nil {
		return err
	}
	file, err := os.Open(s.path(stored))
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": name}))
	w.Header().Set("Etag", `"`+stored+`"`)
	http.ServeContent(w, r, name, info.ModTime(), file)
	return nil
}

func (s *service) listFiles(w http.ResponseWriter, r *http.Request) error {
	type file struct {
		ID     int64   `json:"id"`
		Name   string  `json:"name"`
		Size   int64   `json:"size"`
		Type   string  `json:"type"`
		SHA256 *string `json:"sha256"`
	}
	limit, err := number(r, "limit", 1, 500, 100)
	if err != nil {
		return err
	}
	offset, err := number(r, "offset", 0, 1<<32-1, 0)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(r.Context(), 5*time.Second)
	defer cancel()
	rows, err := s.db.Query(ctx, "SELECT id, name, size, type, sha256 FROM files WHERE owner = $1 ORDER BY name LIMIT $2 OFFSET $3",
		caller(r), limit, offset)
	if err != nil {
		return databaseError(err)
	}
	defer rows.Close()
	files := []file{}
	for rows.Next() {
		var f file
		if err := rows.Scan(&f.ID, &f.Name, &f.Size, &f.Type, &f.SHA256); err != nil {
			return err
		}
		files = append(files, f)
	}
	if err := rows.Err(); err != nil {
		return databaseError(err)
	}
	reply(w, 200, "application/json", files)
	return nil
}

// ---- events

func (s *service) publish(user string, event any) {
	text, _ := json.Marshal(event)
	s.mu.Lock()
	defer s.mu.Unlock()
	for listener, of := range s.listeners {
		if of == user {
			select {
			case listener <- string(text):
			default: // too far behind
			}
		}
	}
}

func (s *service) events(w http.ResponseWriter, r *http.Request) error {
	listener := make(chan string, 16)
	s.mu.Lock()
	s.listeners[listener] = caller(r)
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		delete(s.listeners, listener)
		s.mu.Unlock()
	}()
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	text := ": welcome\n\n"
	for {
		if _, err := io.WriteString(w, text); err != nil {
			return nil
		}
		w.(http.Flusher).Flush()
		silence := time.NewTimer(15 * time.Second)
		select {
		case event := <-listener:
			text = "data: " + event + "\n\n"
		case <-silence.C:
			text = ": ping\n\n"
		case <-s.stopping:
			return nil
		case <-r.Context().Done():
			return nil
		}
		silence.Stop()
	}
}

// ---- jobs

// worker does jobs until done is closed, and then those that wait, within 20 seconds.
func (s *service) worker(done <-chan struct{}) {
	for {
		select {
		case j := <-s.jobs:
			s.work(context.Background(), j)
			continue
		case <-done:
		}
		break
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	for ctx.Err() == nil {
		select {
		case j := <-s.jobs:
			s.work(ctx, j)
		default:
			return
		}
	}
}

func (s *service) work(ctx context.Context, j job) {
	sum, err := digest(s.path(j.stored))
	if err == nil {
		err = s.row(ctx, "UPDATE files SET sha256 = $2 WHERE id = $1 RETURNING owner", []any{j.id, sum}, &j.owner)
	}
	if err != nil {
		log.Error().Err(err).Int64("file", j.id).Msg("job")
		return
	}
	s.publish(j.owner, map[string]any{"id": j.id, "sha256": sum})
	if s.config.Dropbox.ScanURL != "" {
		s.scan(ctx, j.id, sum)
	}
}

func digest(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	hash := sha256.New()
	_, err = io.Copy(hash, file)
	return hex.EncodeToString(hash.Sum(nil)), err
}

func (s *service) scan(ctx context.Context, id int64, sum string) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	client := http.Client{Timeout: 2 * time.Second}
	body, _ := json.Marshal(map[string]any{"id": id, "sha256": sum})
	pause := 200 * time.Millisecond
	for try := 1; ; try++ {
		req, err := http.NewRequestWithContext(ctx, "POST", s.config.Dropbox.ScanURL, bytes.NewReader(body))
		if err != nil {
			log.Error().Err(err).Msg("scan")
			return
		}
		req.Header.Set("Content-Type", "application/json")
		res, err := client.Do(req)
		if err == nil {
			io.Copy(io.Discard, io.LimitReader(res.Body, 1<<16)) // so that the connection is kept
			res.Body.Close()
			if res.StatusCode < 500 {
				return
			}
			if after, err := strconv.Atoi(res.Header.Get("Retry-After")); err == nil {
				pause = time.Duration(after) * time.Second
			}
			err = errors.New(res.Status)
		}
		log.Warn().Err(err).Int("try", try).Int64("file", id).Msg("scan")
		if try == 3 {
			return
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return
		}
		pause *= 2
	}
}

// ---- middleware

const leeway = time.Minute

type claims struct {
	Role  string   `json:"role"`
	Roles []string `json:"roles"`
	jwt.RegisteredClaims
}

func (c *claims) Valid() error {
	now := time.Now()
	switch {
	case !c.VerifyExpiresAt(now.Add(-leeway), true):
		return errors.New("token expired")
	case !c.VerifyNotBefore(now.Add(leeway), false):
		return errors.New("token not yet valid")
	case len(c.Audience) > 0:
		return errors.New("audience not accepted")
	}
	return nil
}

func (c *claims) has(role string) bool {
	for _, r := range append(c.Roles, c.Role) {
		if r == role {
			return true
		}
	}
	return false
}

type claimsKey struct{}

func caller(r *http.Request) string { return r.Context().Value(claimsKey{}).(*claims).Subject }

func authenticate(secret []byte) func(http.Handler) http.Handler {
	parser := jwt.NewParser(jwt.WithValidMethods([]string{"HS256"}))
	key := func(*jwt.Token) (any, error) { return secret, nil }
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			var c claims
			scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
			if !strings.EqualFold(scheme, "Bearer") {
				w.Header().Set("WWW-Authenticate", "Bearer")
				refuse(w, r, fail(401, "a bearer token is required"))
			} else if _, err := parser.ParseWithClaims(token, &c, key); err != nil {
				w.Header().Set("WWW-Authenticate", `Bearer error="invalid_token"`)
				refuse(w, r, fail(401, "%v", err))
			} else {
				w.Header().Set("Cache-Control", "no-store")
				next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), claimsKey{}, &c)))
			}
		})
	}
}

func requireRole(role string) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !r.Context().Value(claimsKey{}).(*claims).has(role) {
				refuse(w, r, fail(403, "the token does not allow this request"))
				return
			}
			next.ServeHTTP(w, r)
		})
	}
}

func limitRate(perSecond, burst int) func(http.Handler) http.Handler {
	limiters, _ := lru.New(65536) // fails for sizes below 1 only
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			host, _, _ := net.SplitHostPort(r.RemoteAddr)
			limiter, found := limiters.Get(host)
			if !found {
				limiter = rate.NewLimiter(rate.Limit(perSecond), burst)
				if other, found, _ := limiters.PeekOrAdd(host, limiter); found {
					limiter = other
				}
			}
			if !limiter.(*rate.Limiter).Allow() {
				w.Header().Set("Retry-After", "1")
				refuse(w, r, fail(429, "too many requests; try again later"))
				return
			}
			next.ServeHTTP(w, r)
		})
	}
}

func secure(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", "default-src 'self'; base-uri 'self'; form-action 'self'; frame-ancestors 'self'; object-src 'none'")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "SAMEORIGIN")
		h.Set("Referrer-Policy", "strict-origin-when-cross-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		next.ServeHTTP(w, r)
	})
}

func observe(r *http.Request, status, size int, took time.Duration) {
	route := chi.RouteContext(r.Context()).RoutePattern()
	if route == "" {
		route = "(none)"
	}
	seconds.WithLabelValues(r.Method, route, strconv.Itoa(status)).Observe(took.Seconds())
	hlog.FromRequest(r).Info().Str("method", r.Method).Str("path", r.URL.Path).Int("status", status).
		Int("bytes", size).Dur("ms", took).Msg("access")
}

func (s *service) routes(secret []byte) http.Handler {
	mux := chi.NewRouter()
	mux.Use(hlog.NewHandler(log.Logger), hlog.RemoteAddrHandler("client"), hlog.RequestIDHandler("request_id", "Request-Id"),
		hlog.AccessHandler(observe), secure, middleware.GetHead)
	mux.Use(cors.New(cors.Options{
		AllowedOrigins: []string{"https://app.example"}, AllowedHeaders: []string{"*"},
		AllowedMethods: []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"},
	}).Handler)
	mux.NotFound(handler(func(http.ResponseWriter, *http.Request) error {
		return fail(404, "no resource exists at this path")
	}).ServeHTTP)
	mux.MethodNotAllowed(handler(func(http.ResponseWriter, *http.Request) error {
		return fail(405, "the method is not supported at this path")
	}).ServeHTTP)
	mux.Get("/healthz", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "ok\n") })
	mux.Method("GET", "/metrics", promhttp.Handler())
	mux.Group(func(api chi.Router) {
		api.Use(authenticate(secret), limitRate(s.config.Dropbox.Rate, s.config.Dropbox.Burst))
		api.With(requireRole("admin")).Method("POST", "/users", handler(s.createUser))
		api.Method("GET", "/users/{name}", handler(s.getUser))
		api.With(middleware.Compress(5, "application/json")).Method("GET", "/files", handler(s.listFiles))
		api.Method("GET", "/files/{name}", handler(s.getFile)) // uncompressed, by sendfile
		api.Method("PUT", "/files/{name}", handler(s.putFile))
		api.Method("GET", "/events", handler(s.events))
	})
	return mux
}

// ---- start and end

func run(path string) error {
	config, secret, err := readConfig(path)
	if err != nil {
		return err
	}
	s, err := open(config)
	if err != nil {
		return err
	}
	defer s.db.Close()
	listener, err := net.Listen("tcp", config.Server.Bind)
	if err != nil {
		return err
	}
	server := &http.Server{
		Handler: s.routes(secret), ReadHeaderTimeout: 10 * time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10,
	}
	server.RegisterOnShutdown(func() { close(s.stopping) })
	served := make(chan struct{})
	var worker sync.WaitGroup
	worker.Add(1)
	go func() {
		defer worker.Done()
		s.worker(served)
	}()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	log.Info().Str("address", listener.Addr().String()).Msg("listening")
	daemon.SdNotify(false, daemon.SdNotifyReady)
	select {
	case err = <-failed:
	case <-ctx.Done():
		drain, cancel := context.WithTimeout(context.Background(), time.Duration(config.Server.DrainTimeout)*time.Millisecond)
		defer cancel()
		if server.Shutdown(drain) != nil {
			server.Close()
		}
	}
	close(served)
	worker.Wait()
	return err
}

func main() {
	zerolog.TimeFieldFormat = time.RFC3339Nano
	if len(os.Args) != 2 {
		log.Fatal().Msg("usage: dropbox FILE.toml")
	}
	if err := run(os.Args[1]); err != nil {
		log.Fatal().Err(err).Msg("dropbox")
	}
}
