package verbs

import (
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/signalcast/signalcast/cmd/signalcast/internal/ask"
	"github.com/signalcast/signalcast/cmd/signalcast/internal/settings"
	"github.com/signalcast/signalcast/sdk/go/feed"
)

// channelForms lists the names of the channels of the feed for errors.
const channelForms = "signals, signals:lane:LANE, market:ID, operator:HANDLE, overlay:HANDLE, live, resolutions, wire, " +
	"prices, prices:LANE, program:PRESET, program:PRESET:LANE, pulse and me"

// feedOptions returns the options of a client of the feed for the given channels. Only the channel me requires the key.
func feedOptions(f *settings.Flags, s *Streams, channels []string) (feed.Options, error) {
	o := feed.Options{Channels: channels, HTTPClient: &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	address, err := f.APIAddress()
	if err != nil {
		return o, err
	}
	o.URL = address + "/ws"
	if slices.Contains(channels, "me") {
		if o.Key, err = apiKey(f, s, address); err != nil {
			return o, err
		}
	}
	o.OnState = connectionReport(s, address)
	return o, nil
}

// apiKey returns the key for the hub if it may also be sent to the api with the given address.
func apiKey(f *settings.Flags, s *Streams, api string) (string, error) {
	hub, err := f.Address()
	if err != nil {
		return "", err
	}
	key, err := f.Secret(hub, s.In)
	if err != nil {
		return "", err
	}
	return key, f.MaySend(api)
}

// reportInterval is the time after which a failure that continues is reported again.
const reportInterval = time.Minute

// connectionReport returns a function that writes changes of the connection to the standard error: the reason of a failure once,
// and again after reportInterval, and the end of the failure.
func connectionReport(s *Streams, address string) func(feed.State) {
	reason, at := "", time.Time{}
	return func(st feed.State) {
		switch st.Phase {
		case feed.Reconnecting:
			next := "the connection ended"
			if st.Err != nil {
				next = ask.Reason(st.Err)
			}
			if next != reason || time.Since(at) >= reportInterval {
				s.progress("no connection to the feed at " + address + ": " + next + "; trying again until it is restored")
				reason, at = next, time.Now()
			}
		case feed.Live:
			if reason != "" {
				s.progress("connected to the feed again")
			}
			reason = ""
		}
	}
}

// feedError converts the error of a client of the feed to the error of the command.
func feedError(err error) error {
	if !errors.Is(err, feed.ErrUnauthenticated) {
		return err
	}
	return &ask.Refused{
		Status: http.StatusUnauthorized, Code: "unauthenticated",
		Do: "The key is unknown or revoked: run `signalcast login` with a new one",
	}
}
