package openapi

import (
	"encoding/json"
	"strings"
	"sync"
)

// Hosts are the base URLs of the hosts of an installation, without a trailing slash. An empty URL is not known.
type Hosts struct{ Hub, API, Clock string }

// servedPath is a path of the OpenAPI document, split into segments, with the URL of its host in the document.
type servedPath struct {
	segments []string
	host     string
}

// servedPaths returns the paths of the OpenAPI document that exactly one host serves.
var servedPaths = sync.OnceValue(func() []servedPath {
	type server struct{ URL string }
	var doc struct {
		Paths map[string]map[string]json.RawMessage
	}
	if err := json.Unmarshal(JSON, &doc); err != nil {
		return nil
	}
	var out []servedPath
	for path, methods := range doc.Paths {
		hosts := map[string]bool{}
		for _, raw := range methods {
			var op struct{ Servers []server }
			if json.Unmarshal(raw, &op) != nil {
				continue // not an operation
			}
			for _, s := range op.Servers {
				hosts[s.URL] = true
			}
		}
		for host := range hosts {
			if len(hosts) == 1 {
				out = append(out, servedPath{strings.Split(path, "/"), host})
			}
		}
	}
	return out
})

// Serving returns the base URL of the host that serves a path according to the OpenAPI document. It returns "" if no host serves
// the path, or if the URL of that host is not set.
func (h Hosts) Serving(path string) string {
	segments := strings.Split(path, "/")
	urls := map[string]string{"https://hub.example": h.Hub, "https://api.example": h.API, "https://clock.example": h.Clock}
	for _, p := range servedPaths() {
		if MatchPath(p.segments, segments) && urls[p.host] != "" {
			return urls[p.host]
		}
	}
	return ""
}

// MatchPath reports whether a path has the form of a path of the OpenAPI document. Both are split at slashes. A parameter, such
// as {id}, matches one segment that is not empty; {rest} matches all remaining segments.
func MatchPath(template, path []string) bool {
	for i, want := range template {
		switch {
		case i >= len(path):
			return false
		case want == "{rest}":
			return true
		case want != path[i] && (path[i] == "" || !strings.HasPrefix(want, "{")):
			return false
		}
	}
	return len(path) == len(template)
}
