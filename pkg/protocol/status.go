package protocol

// MarketStatus is the state of a market.
type MarketStatus string

// States of a market. Only resolved is final.
const (
	MarketOpen     MarketStatus = "open"
	MarketClosed   MarketStatus = "closed"
	MarketResolved MarketStatus = "resolved"
	MarketUnknown  MarketStatus = "unknown"
)

// ParseMarketStatus returns the market status s, or false for any other text.
func ParseMarketStatus(s string) (MarketStatus, bool) {
	return oneOf(s, MarketOpen, MarketClosed, MarketResolved, MarketUnknown)
}

// SignalStatus is the state of a call.
type SignalStatus string

// States of a call. All states except pending are final.
const (
	Pending SignalStatus = "pending"
	Won     SignalStatus = "won"
	Lost    SignalStatus = "lost"
	Void    SignalStatus = "void"
)

// Source is the kind of client that filed a call.
type Source string

// Sources of calls. The name of one more source, the social client, is a setting (see ParseSource).
const (
	SourceWeb    Source = "web"
	SourceMobile Source = "mobile"
	SourceEmbed  Source = "embed"
	SourceAPI    Source = "api"
)

// ParseSource parses the member source of a request. It returns mobile, embed or the name of the social client if raw
// is one of them, and web otherwise. Only the protocol routes set api.
func ParseSource(raw, social string) Source {
	switch s := Source(raw); {
	case s == SourceMobile, s == SourceEmbed:
		return s
	case raw != "" && raw == social:
		return s
	}
	return SourceWeb
}
