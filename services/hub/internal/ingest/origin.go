package ingest

import "context"

// Values of INGEST_PROVIDER for the hub's own HLS origin: direct uploads, or an RTMP server that feeds the origin.
const (
	OriginName = "origin"
	RTMPName   = "rtmp"
)

// Origin provisions streams at the hub's HLS origin, to which encoders upload segments and playlists over HTTP. It implements
// Provider.
type Origin struct {
	// Base returns the public base URL of the origin without a trailing slash; empty before the origin has started.
	Base func() string
}

// Name implements Provider.
func (o Origin) Name() string { return OriginName }

// Provision implements Provider. It creates a key and sends no request. It returns ErrUnavailable before the origin has started.
func (o Origin) Provision(_ context.Context, w Want) (Offer, error) {
	base := o.Base()
	if base == "" {
		return Offer{}, ErrUnavailable
	}
	key := newKey()
	return Offer{
		Protocol: "hls", URL: base + playbackPath(w.Handle.String()), PushURL: base + "/ingest/" + key + "/" + w.Handle.String() + "/index.m3u8", Key: key,
	}, nil
}

// Withdraw implements Provider. It does nothing, because a key is valid only after it was stored.
func (o Origin) Withdraw(context.Context, string) error { return nil }

// Playback implements Provider.
func (o Origin) Playback(s Stream) string { return o.Base() + playbackPath(s.Handle.String()) }

func playbackPath(handle string) string { return "/live/" + handle + "/index.m3u8" }

// RTMP provisions streams at an RTMP server. The server checks each key with the HLS origin and pushes received video to the
// origin. RTMP implements Provider.
type RTMP struct {
	Origin
	URL string // URL of the RTMP application: rtmp://host/live
}

// Name implements Provider.
func (r RTMP) Name() string { return RTMPName }

// Provision implements Provider. It creates a key and sends no request. The offered key consists of the name of the stream and
// the secret key. It returns ErrUnavailable before the origin has started.
func (r RTMP) Provision(_ context.Context, w Want) (Offer, error) {
	if r.Base() == "" {
		return Offer{}, ErrUnavailable
	}
	key := newKey()
	protocol := "rtmp"
	if len(r.URL) > 5 && r.URL[:5] == "rtmps" {
		protocol = "rtmps"
	}
	named := w.Handle.String() + "?key=" + key
	return Offer{Protocol: protocol, URL: r.URL, PushURL: r.URL + "/" + named, Key: named, Secret: key}, nil
}

// None is the provider of an installation that receives no video.
type None struct{}

// Name implements Provider.
func (None) Name() string { return "none" }

// Provision implements Provider. It always returns ErrUnavailable.
func (None) Provision(context.Context, Want) (Offer, error) {
	return Offer{}, ErrUnavailable.WithText("this installation receives no video")
}

// Withdraw implements Provider.
func (None) Withdraw(context.Context, string) error { return nil }

// Playback implements Provider. It returns "".
func (None) Playback(Stream) string { return "" }
