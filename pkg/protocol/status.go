package protocol

// MarketStatus is the state of a market.
type MarketStatus string

// The market states; resolved is final.
const (
	MarketOpen     MarketStatus = "open"
	MarketClosed   MarketStatus = "closed"
	MarketResolved MarketStatus = "resolved"
	MarketUnknown  MarketStatus = "unknown"
)

// ParseMarketStatus reads a market status exactly.
func ParseMarketStatus(s string) (MarketStatus, bool) {
	return oneOf(s, MarketOpen, MarketClosed, MarketResolved, MarketUnknown)
}

// SignalStatus is the state of a signal.
type SignalStatus string

// The signal states; all but pending are final.
const (
	Pending SignalStatus = "pending"
	Won     SignalStatus = "won"
	Lost    SignalStatus = "lost"
	Void    SignalStatus = "void"
)

// Source is the client that filed a signal.
type Source string

// The fixed sources; one more, the social client, is a setting.
const (
	SourceWeb    Source = "web"
	SourceMobile Source = "mobile"
	SourceEmbed  Source = "embed"
	SourceAPI    Source = "api"
)

// ParseSource reads the client's `source`: web, mobile, embed or the social
// client. Anything else is web; api is given by the protocol routes alone.
func ParseSource(raw, social string) Source {
	switch s := Source(raw); {
	case s == SourceMobile, s == SourceEmbed:
		return s
	case raw != "" && raw == social:
		return s
	}
	return SourceWeb
}
