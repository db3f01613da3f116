package stack

import (
	"net/http"
	"strings"
	"sync"
	"testing"
)

// Observer is a function that receives each response of a service before the client that sent the request. If it reads the body,
// it must replace the body with an unread copy. t is nil if the context of the request contains no test.
type Observer func(t testing.TB, service string, r *http.Request, res *http.Response)

var observer Observer

// Observe registers the observer for the responses of all systems of this test binary. Call it before the first request.
func Observe(o Observer) { observer = o }

// services maps the address (host:port) of a service to the name of the service.
var services sync.Map

// Service returns the name of the service at an address (host:port): hub, api or clock. It returns an empty string for
// other addresses.
func Service(address string) string {
	name, _ := services.Load(address)
	service, _ := name.(string)
	return service
}

func (s *Stack) register() {
	for _, url := range s.AllHubs() {
		services.Store(strings.TrimPrefix(url, "http://"), "hub")
	}
	services.Store(strings.TrimPrefix(s.API, "http://"), "api")
	services.Store(strings.TrimPrefix(s.Clock, "http://"), "clock")
}

type testKey struct{}

// Observed returns a transport that sends requests through next and passes each response of a service to the observer.
func Observed(next http.RoundTripper) http.RoundTripper { return observed{next} }

type observed struct{ next http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (o observed) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := o.next.RoundTrip(r)
	if err != nil || observer == nil {
		return res, err
	}
	if service := Service(r.URL.Host); service != "" {
		t, _ := r.Context().Value(testKey{}).(testing.TB)
		observer(t, service, r, res)
	}
	return res, nil
}

// CloseIdleConnections closes the idle connections of the wrapped transport.
func (o observed) CloseIdleConnections() {
	if t, ok := o.next.(*http.Transport); ok {
		t.CloseIdleConnections()
	}
}
