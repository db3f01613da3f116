package verbs

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"

	"github.com/signalcast/signalcast/cmd/signalcast/internal/settings"
	"github.com/signalcast/signalcast/cmd/signalcast/internal/show"
)

// API is the command `signalcast api`, which sends one request to any route.
type API struct {
	settings.Flags
	settings.Admin
	Method string   `arg:"" enum:"GET,POST,PUT,PATCH,DELETE" help:"GET, POST, PUT, PATCH or DELETE."`
	Path   string   `arg:"" help:"Path of the route with its query, such as /api/m/701122."`
	Field  []string `short:"f" sep:"none" help:"Text member of the body; of GET and DELETE a parameter of the query. May be repeated." placeholder:"NAME=TEXT"`
	Typed  []string `short:"F" sep:"none" help:"Member of the body with a value in JSON, such as price=6850. May be repeated." placeholder:"NAME=JSON"`
	Input  string   `help:"File with the body, JSON, or - for the standard input." type:"path" placeholder:"FILE"`
	All    bool     `help:"Of a GET: one answer with the items of all pages."`
	At     string   `help:"Address of the service. Default: the hub or the api, whichever has the route. A credential is sent only with --key or --secret-file." placeholder:"URL"`
}

// Run sends the request and writes the body of the answer. It sends the credential that the protocol requires for the route, and
// no credential to a public route.
func (c *API) Run(ctx context.Context, s *Streams) error {
	if err := s.Only("api writes the body of the answer", "json"); err != nil {
		return err
	}
	path, body, err := c.request(s)
	if err != nil {
		return err
	}
	at, err := c.open(s, path.Path)
	if err != nil {
		return err
	}
	at.json = true
	send := func(cursor *string) (*http.Response, error) { return c.send(ctx, at, path, cursor, body) }
	if c.All {
		raw, err := readAll(nil, send)
		return showBody(at, raw, err, func(*any) error { return nil })
	}
	a, err := send(nil)
	if err != nil || a.StatusCode >= 300 || isJSON(a) {
		return showResponse(at, a, err, func(*any) error { return nil })
	}
	defer func() { _ = a.Body.Close() }()
	if !s.Terminal {
		_, err = io.Copy(s.Out, a.Body)
	} else {
		err = show.Text(s.Out, a.Body)
	}
	return err
}

// isJSON reports whether the body of an answer is one JSON value.
func isJSON(a *http.Response) bool {
	kind, _, err := mime.ParseMediaType(a.Header.Get("Content-Type"))
	return err == nil && (kind == "application/json" || strings.HasSuffix(kind, "+json"))
}

// request returns the path with the query, and the body of the request, which is nil if there is none.
func (c *API) request(s *Streams) (*url.URL, []byte, error) {
	path, err := url.Parse(c.Path)
	if err != nil || !strings.HasPrefix(c.Path, "/") || path.Host != "" {
		return nil, nil, errors.New("the path must begin with / and contain no host, such as /api/m/701122")
	}
	members := map[string]any{}
	for _, field := range c.Field {
		name, value, ok := strings.Cut(field, "=")
		if !ok || name == "" {
			return nil, nil, errors.New("--field must be NAME=TEXT")
		}
		members[name] = value
	}
	for _, field := range c.Typed {
		name, value, ok := strings.Cut(field, "=")
		if !ok || name == "" || !json.Valid([]byte(value)) {
			return nil, nil, errors.New("--typed must be NAME=JSON, such as price=6850")
		}
		members[name] = json.RawMessage(value)
	}
	inQuery := c.Method == http.MethodGet || c.Method == http.MethodDelete
	switch {
	case c.All && c.Method != http.MethodGet:
		return nil, nil, errors.New("--all requires GET")
	case c.Input != "" && (len(members) > 0 || c.Method == http.MethodGet):
		return nil, nil, errors.New("--input is the whole body of a write; omit --field and --typed")
	case c.Input != "":
		body, err := readFile(c.Input, s)
		return path, body, err
	case len(members) == 0:
		return path, nil, nil
	case inQuery:
		query := path.Query()
		for name, value := range members {
			query.Set(name, fmt.Sprintf("%s", value))
		}
		path.RawQuery = query.Encode()
		return path, nil, nil
	}
	body, err := json.Marshal(members)
	return path, body, err
}

// open returns a session at the service that has the route, with the credential that the route requires.
func (c *API) open(s *Streams, path string) (*session, error) {
	route := findRoute(c.Method, path)
	address, err := c.At, error(nil)
	switch {
	case address != "":
		address, err = settings.Service("--at", address)
	case route.service == "api":
		address, err = c.APIAddress()
	case route.service == "clock":
		err = errors.New("this route is one of the clock; set its address with --at")
	default:
		address, err = c.Address()
	}
	if err != nil {
		return nil, err
	}
	if c.SecretFile != "" || c.At == "" && c.Key == "" && route.admin && !route.key {
		return c.openAdmin(s, address)
	}
	key := ""
	if c.Key != "" || c.At == "" && route.key {
		if key, err = apiKey(&c.Flags, s, address); err != nil {
			return nil, err
		}
	}
	return open(s, address, key)
}

func (c *API) openAdmin(s *Streams, address string) (*session, error) {
	secret, err := c.AdminSecret(&c.Flags, address)
	if err != nil {
		return nil, err
	}
	at, err := open(s, address, "")
	if err == nil {
		at.sendAdmin(secret)
	}
	return at, err
}

// send sends the request. A cursor that is not nil replaces that of the query.
func (c *API) send(ctx context.Context, at *session, path *url.URL, cursor *string, body []byte) (*http.Response, error) {
	to := *path
	if cursor != nil {
		query := to.Query()
		query.Set("cursor", *cursor)
		to.RawQuery = query.Encode()
	}
	var from io.Reader
	if body != nil {
		from = bytes.NewReader(body)
	}
	r, err := http.NewRequestWithContext(ctx, c.Method, at.at+to.RequestURI(), from)
	if err != nil {
		return nil, err
	}
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	for _, edit := range at.RequestEditors {
		if err := edit(ctx, r); err != nil {
			return nil, err
		}
	}
	return at.Client.Client.Do(r)
}
