package signalcast

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/signalcast/signalcast/sdk/go/client"
)

// Options contains the settings of a Client. The URL of each service that is used is required.
type Options struct {
	// Hub, API and Clock are the base URLs of the services, for example https://hub.example. The URL of an unused
	// service may be empty.
	Hub, API, Clock string
	// Token returns the credential of operations that require one. If nil, the client sends none.
	Token TokenSource
	// HTTPClient sends the requests. nil means a client that does not follow redirects. Another client should not
	// follow them either, because the services never redirect API requests.
	HTTPClient *http.Client
	// UserAgent is the User-Agent header; empty means signalcast-go.
	UserAgent string
	// Retry is the retry policy. The zero value is the default policy.
	Retry Retry
	// PlainHTTP allows credentials over unencrypted http to other machines.
	PlainHTTP bool
	// TokenOnReads sends the credential on public reads as well. They then count against the limit of the credential, which is lower
	// than that of an IP address, and fail with an invalid credential.
	TokenOnReads bool
	// OnLimit is called with the state of each rate limit that a response describes. It can be called concurrently.
	OnLimit func(Limit)
	// OnIgnored is called if a service ignored query parameters that it could not read, with their names (header X-Ignored). The
	// operation is a method and a path. OnIgnored can be called concurrently.
	OnIgnored func(operation string, parameters []string)
}

// Client sends requests to the services hub, api and clock. It is safe for concurrent use.
type Client struct {
	// Hub, API and Clock are the generated clients with every operation. The client adds credentials and retries; the caller
	// decodes the responses.
	Hub, API, Clock *client.ClientWithResponses

	Signals   Signals
	Markets   Markets
	Boards    Boards
	Operators Operators
	Programme Programme
	People    People
	Keys      Keys
	Live      Live
	Apps      Apps
	Messages  Messages
	Webhooks  Webhooks

	options Options
	http    *http.Client
	atlas   *atlas
	limits  limits

	mu      sync.Mutex
	session session // nil before People.SignIn
}

// New returns a Client. It sends no request. It returns an error for an invalid URL, and for an unencrypted URL that
// Options.PlainHTTP does not permit.
func New(o Options) (*Client, error) {
	o.Retry = o.Retry.settled()
	if o.UserAgent == "" {
		o.UserAgent = "signalcast-go"
	}
	c := &Client{options: o, http: o.HTTPClient, atlas: newAtlas()}
	if c.http == nil {
		c.http = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	}
	for _, service := range []struct {
		name, at string
		into     **client.ClientWithResponses
	}{{"Hub", o.Hub, &c.Hub}, {"API", o.API, &c.API}, {"Clock", o.Clock, &c.Clock}} {
		s := &sender{Client: c, name: service.name}
		if service.at != "" {
			u, err := o.address(service.at)
			if err != nil {
				return nil, fmt.Errorf("signalcast: %s: %w", service.name, err)
			}
			s.there, s.under = true, strings.TrimRight(u.Path, "/")
		}
		made, err := client.NewClientWithResponses(service.at, client.WithHTTPClient(s))
		if err != nil {
			return nil, fmt.Errorf("signalcast: %s: %w", service.name, err)
		}
		*service.into = made
	}
	c.Signals, c.Markets, c.Boards, c.Operators, c.Programme = Signals{c}, Markets{c}, Boards{c}, Operators{c}, Programme{c}
	c.People, c.Keys, c.Live, c.Apps, c.Messages, c.Webhooks = People{c}, Keys{c}, Live{c}, Apps{c}, Messages{c}, Webhooks{c}
	return c, nil
}

// address parses the URL of a service. It returns an error for a URL with a query, a fragment or a user. If Token is set, it also
// rejects unencrypted URLs to other machines unless PlainHTTP is set.
func (o Options) address(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		// The error does not contain the URL, which may contain a secret.
		return nil, errors.New("must be an http or https URL without user name, query and fragment, such as https://hub.example")
	}
	ip := net.ParseIP(u.Hostname())
	if o.Token != nil && u.Scheme == "http" && !o.PlainHTTP && u.Hostname() != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return nil, errors.New("http sends the credential unencrypted; use https, or set PlainHTTP if you trust the network")
	}
	return u, nil
}
