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

// Options say where the services are and who asks them.
type Options struct {
	// Hub, API and Clock are addresses such as https://hub.example. Those that are not
	// used can be left empty.
	Hub, API, Clock string
	// Token returns the key or token for operations that take one; nil: none is sent.
	Token TokenSource
	// HTTPClient sends; nil: one of the library's own. It should follow no redirect: no
	// service here answers with one.
	HTTPClient *http.Client
	// UserAgent names the program.
	UserAgent string
	// Retry is the policy; its zero value is the usual one.
	Retry Retry
	// PlainHTTP lets a credential go over http to a machine that is not this one.
	PlainHTTP bool
}

// Client asks the services. It may be used by several goroutines.
type Client struct {
	// Hub, API and Clock have every operation, as they are generated. What they answer is
	// read by the caller; credentials and trying again are taken care of.
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

	options Options
	http    *http.Client
	atlas   *atlas

	mu      sync.Mutex
	session session // nil before People.SignIn
}

// New returns a client. It sends no request. An invalid address is an error.
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
	c.People, c.Keys, c.Live, c.Apps, c.Messages = People{c}, Keys{c}, Live{c}, Apps{c}, Messages{c}
	return c, nil
}

// address reads one, and refuses what would show a credential to the network.
func (o Options) address(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, errors.New("no address of a service; write it like https://hub.example") // the text may hold a secret
	}
	ip := net.ParseIP(u.Hostname())
	if o.Token != nil && u.Scheme == "http" && !o.PlainHTTP && u.Hostname() != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return nil, errors.New("not encrypted, and a credential would be seen on the way: use https, or PlainHTTP if you trust the network")
	}
	return u, nil
}
