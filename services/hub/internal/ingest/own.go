package ingest

import "context"

// The names of the providers that are ours.
const (
	OriginName = "origin"
	RTMPName   = "rtmp"
)

// Origin offers our own HLS origin: encoders put segments and playlists there.
type Origin struct {
	// Base is where the origin is found from outside, without a slash at the end;
	// empty: it has none yet.
	Base func() string
}

// Name implements Provider.
func (o Origin) Name() string { return OriginName }

// Provision implements Provider. It contacts nobody.
func (o Origin) Provision(_ context.Context, w Want) (Offer, error) {
	base := o.Base()
	if base == "" {
		return Offer{}, ErrAway
	}
	key := newKey()
	return Offer{
		Protocol: "hls", URL: base + playbackPath(w.Handle.String()), PushURL: base + "/ingest/" + key + "/" + w.Handle.String() + "/index.m3u8", Key: key,
	}, nil
}

// Withdraw implements Provider: a key that was not kept opens nothing.
func (o Origin) Withdraw(context.Context, string) error { return nil }

// Playback implements Provider.
func (o Origin) Playback(s Stream) string { return o.Base() + playbackPath(s.Handle.String()) }

func playbackPath(handle string) string { return "/live/" + handle + "/index.m3u8" }

// RTMP offers an RTMP server in front of our origin. The server asks the origin about
// each key and pushes there what it was sent.
type RTMP struct {
	Origin
	URL string // of the server's application: rtmp://host/live
}

// Name implements Provider.
func (r RTMP) Name() string { return RTMPName }

// Provision implements Provider. It contacts nobody. The name of the stream in front
// of the key is what RTMP servers file it under.
func (r RTMP) Provision(_ context.Context, w Want) (Offer, error) {
	if r.Base() == "" {
		return Offer{}, ErrAway
	}
	key := newKey()
	protocol := "rtmp"
	if len(r.URL) > 5 && r.URL[:5] == "rtmps" {
		protocol = "rtmps"
	}
	named := w.Handle.String() + "?key=" + key
	return Offer{Protocol: protocol, URL: r.URL, PushURL: r.URL + "/" + named, Key: named, Secret: key}, nil
}

// None takes no video.
type None struct{}

// Name implements Provider.
func (None) Name() string { return "none" }

// Provision implements Provider.
func (None) Provision(context.Context, Want) (Offer, error) {
	return Offer{}, ErrAway.Say("this station takes no video")
}

// Withdraw implements Provider.
func (None) Withdraw(context.Context, string) error { return nil }

// Playback implements Provider.
func (None) Playback(Stream) string { return "" }
