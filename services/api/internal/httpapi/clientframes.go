package httpapi

import (
	"context"
	"strconv"
	"strings"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/httpx"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/api/internal/broker"
	"github.com/signalcast/signalcast/services/api/internal/feed"
	"github.com/signalcast/signalcast/services/api/internal/operator"
)

// Maximum lengths, in characters, of the id, a channel name and the token in a client frame.
const (
	maxID      = 64  // id
	maxChannel = 160 // name of a channel
	maxToken   = 128
)

// handle executes the JSON of one client frame. If the socket must be closed, it returns the close code and false.
func (k *socket) handle(ctx context.Context, data []byte) (broker.Code, bool) {
	o, err := httpx.DecodeBytes(data)
	if err != nil {
		k.sendError("", "", errFrame.WithText("%s", strings.Replace(apperr.Of(err).Message, "body", "the frame", 1)))
		return broker.Code{}, true
	}
	var id string
	if given := o.OptString("id", maxID); given != nil {
		id = *given
	}
	op := o.OptEnum("op", "auth", "subscribe", "unsubscribe", "ping")
	if err := o.Err(); err != nil || op == "" {
		k.sendError(id, "", errFrame)
		return broker.Code{}, true
	}
	switch op {
	case "auth":
		return k.authenticate(ctx, id, o)
	case "ping":
		k.send(pongJSON{Op: "pong", ID: id})
		return broker.Code{}, true
	}
	channels := o.Strings("channels", 2*k.all.Limits.Subscriptions, maxChannel)
	if len(channels) == 0 {
		o.Missing("channels")
	}
	since, _ := o.OptObject("since")
	if err := o.Err(); err != nil {
		k.sendError(id, "", err)
		return broker.Code{}, true
	}
	if op == "subscribe" {
		k.subscribe(ctx, id, channels, since)
	} else {
		k.unsubscribe(id, channels)
	}
	return broker.Code{}, true
}

func (k *socket) sendError(id, channel string, err error) {
	k.reader.Push(broker.Text(errorFrame(id, channel, err)))
}

// authenticate handles a frame with the op "auth". It sets the operator key of the socket. It returns a close code and false
// if the key is invalid or a limit of the key is reached. If the ledger is unavailable or a strict key lacks the permission
// "read", the client receives an error frame, and the socket stays open.
func (k *socket) authenticate(ctx context.Context, id string, o httpx.Object) (broker.Code, bool) {
	token := o.OptString("token", maxToken)
	if token == nil || !protocol.IsKey(*token) {
		return broker.Unauthenticated, false
	}
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	me, err := k.all.holder(ctx, operator.Hash(*token))
	if err != nil {
		if apperr.Of(err).Kind == apperr.Unauthenticated {
			return broker.Unauthenticated, false
		}
		k.sendError(id, "", err)
		return broker.Code{}, true
	}
	if err := me.permit(read); err != nil {
		k.sendError(id, "", err)
		return broker.Code{}, true
	}
	if !k.all.Keys.Allow(ctx, me.name()).Allowed || !k.all.rekey(k.me.name(), me.name()) {
		return broker.RateLimited, false
	}
	ended := k.setHolder(me)
	k.send(ackJSON{Op: "ack", ID: id, Channels: []string{}})
	for _, c := range ended {
		k.sendError(id, c.Shown(), errAnother)
	}
	return broker.Code{}, true
}

// parseChannel returns the channel with the given name. The name "me" means the private channel of the socket's operator. It
// returns errChannel for an unknown name, and errOwn for "me" on a socket without a key.
func (k *socket) parseChannel(name string) (feed.Channel, error) {
	c, known := feed.ParseChannel(name)
	switch {
	case !known:
		return "", errChannel
	case c != feed.Me:
		return c, nil
	case k.me.handle == "":
		return "", errOwn
	}
	return feed.MeChannel(k.me.handle), nil
}

// subscribe handles a frame with the op "subscribe". It sends an error frame for each channel that cannot be subscribed, and
// one ack for the others.
func (k *socket) subscribe(ctx context.Context, id string, names []string, since httpx.Object) {
	var requested []pendingSub
	for _, name := range names {
		c, err := k.parseChannel(name)
		if err != nil {
			k.sendError(id, name, err)
			continue
		}
		p := pendingSub{channel: c, id: id}
		if raw := sinceOf(since, name, c); raw != nil {
			n, err := strconv.ParseInt(string(raw), 10, 64)
			if err != nil || n < 0 {
				k.sendError(id, name, errSince)
				continue
			}
			p.since, p.resumes = n, true
		}
		requested = append(requested, p)
	}
	k.startSubscriptions(ctx, id, requested)
}

// sinceOf returns the value for channel c in the object since, or nil. The parameter name is the spelling of c that the
// client used in "channels". The object may contain another spelling.
func sinceOf(since httpx.Object, name string, c feed.Channel) []byte {
	if raw := since.Raw(name); raw != nil {
		return raw
	}
	for _, other := range since.Names() {
		if same, known := feed.ParseChannel(other); known && same.Shown() == c.Shown() {
			if raw := since.Raw(other); raw != nil {
				return raw
			}
		}
	}
	return nil
}

// startSubscriptions subscribes to the requested channels and sends one ack. For channels above the limit of subscriptions,
// it sends an error frame. Each subscription begins with the snapshot of its channel, if it has one, continues with the
// events after since, and is then live.
func (k *socket) startSubscriptions(ctx context.Context, id string, requested []pendingSub) {
	acked := make([]string, 0, len(requested))
	var plans []pendingSub
	for _, p := range requested {
		c := p.channel
		k.mu.Lock()
		old, again := k.subs[c]
		full := !again && len(k.subs) >= k.all.Limits.Subscriptions
		k.mu.Unlock()
		if full {
			k.sendError(id, c.Shown(), errFull)
			continue
		}
		acked = append(acked, c.Shown())
		if again && !p.resumes {
			continue // already subscribed
		}
		if again {
			old.Close() // a client that detected a gap resumes from before it
		}
		p.sub = k.all.Broker.Subscribe(k.reader, c)
		switch {
		case !p.resumes:
		case p.since <= k.all.Broker.Head():
			p.sub.Start(p.since)
		default:
			p.ahead = true
		}
		k.mu.Lock()
		k.subs[c] = p.sub
		k.mu.Unlock()
		plans = append(plans, p)
	}
	if len(acked) > 0 {
		k.send(ackJSON{Op: "ack", ID: id, Channels: acked})
	}
	k.catchUp(ctx, plans)
}

func (k *socket) unsubscribe(id string, names []string) {
	acked := make([]string, 0, len(names))
	for _, name := range names {
		c, err := k.parseChannel(name)
		if err != nil {
			k.sendError(id, name, err)
			continue
		}
		k.mu.Lock()
		sub := k.subs[c]
		delete(k.subs, c)
		k.mu.Unlock()
		if sub != nil {
			sub.Close()
		}
		acked = append(acked, c.Shown())
	}
	if len(acked) > 0 {
		k.send(ackJSON{Op: "ack", ID: id, Channels: acked})
	}
}
