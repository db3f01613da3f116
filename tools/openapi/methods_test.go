package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const (
	methodsDocument = `{"paths": {
		"/api/a": {"get": {"operationId": "listA", "servers": [{"url": "https://hub.example"}], "security": []}},
		"/api/b": {"post": {"operationId": "makeB", "servers": [{"url": "https://api.example"}], "security": [{"operatorKey": []}],
			"x-signalcast-permission": "signal"}},
		"/api/protocol/v1/messages": {"post": {"operationId": "send", "servers": [{"url": "https://hub.example"}], "security": []}},
		"/api/protocol/v1/oauth/token": {"post": {"operationId": "token",
			"servers": [{"url": "https://hub.example"}], "security": [{}]}}}}`
	goSubjects = `package signalcast

type Client struct {
	Things Things
	Live   Live
}

func (t Things) All(ctx context.Context, q *Query) iter.Seq2[A, error] {
	return pages(t.c.Hub.ListA(ctx, q))
}

func (t Things) Make(ctx context.Context, id ID, b B) (B, error) {
	return t.c.API.MakeBWithBody(ctx, id, b)
}

func (t Things) MakeTwice(ctx context.Context, b B) (B, error) {
	return t.Make(ctx, b)
}

func (l Live) Feed(ctx context.Context, o Options) (*Feed, error) {
	return open(ctx, o)
}
`
	tsSubjects = `export class Things extends Subject {
  all = (query: List<'/api/a'> = {}) => this.paged('/api/a', query);
  async make(id: string, body: B, ending?: Ending) {
    return this.ask('POST', '/api/b', { body });
  }
  send(body: M) {
    return this.ask('POST', '/api/protocol/v1/messages', { body });
  }
  token = (body: T) => this.ask('POST', '/api/protocol/v1/oauth/token', { body });
}
export class Live extends Subject {
  feed(options: Options) {
    return open(options);
  }
}
`
)

// TestMethodsPage checks the rows of the page of methods, and that a method without an operation is an error.
func TestMethodsPage(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var root map[string]any
	if err := json.Unmarshal([]byte(methodsDocument), &root); err != nil {
		t.Fatal(err)
	}
	page := func(goSource string) (string, error) {
		for name, text := range map[string]string{"client.go": goSource, "subjects.ts": tsSubjects} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		text, err := methodsPage(root, dir, dir)
		return string(text), err
	}
	text, err := page(goSubjects)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []string{
		"| `All(q)` | `all(query)` | `GET /api/a` | none | 600 a minute of an IP address |",
		"| `Make(id, b)` | `make(id, body)` | `POST /api/b` | operator key (`signal`) | 120 a minute |",
		"| `MakeTwice(b)` | – | `POST /api/b` | operator key (`signal`) | 120 a minute |",
		"| – | `send(body)` | `POST /api/protocol/v1/messages` | none | 30 a minute of a signing key |",
		"| – | `token(body)` | `POST /api/protocol/v1/oauth/token` | none | 30 a minute of an app and IP address |",
		"| `Feed(o)` | `feed(options)` | websocket `{api}/ws` |",
	} {
		if !strings.Contains(text, row) {
			t.Errorf("the page has no row %s\n%s", row, text)
		}
	}
	_, err = page(strings.Replace(goSubjects, "t.Make(ctx, b)", "B{}, nil", 1))
	if err == nil || !strings.Contains(err.Error(), "maketwice of Things") {
		t.Errorf("a method without an operation: %v; want an error that names it", err)
	}
}
