package filing

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"hash"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/httpx"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/proto/openapi"
	"github.com/signalcast/signalcast/services/hub/internal/caller"
	"github.com/signalcast/signalcast/services/hub/internal/effect"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/request"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/view"
	"github.com/signalcast/signalcast/services/hub/internal/message"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
)

// createdJSON has the same members as openapi.Created, in another order: the members of openapi.Filed come first.
type createdJSON struct {
	openapi.Filed
	URI       string `json:"uri"`
	MessageID string `json:"messageId"`
}

// creationMembers are the body members of the two routes that create a prediction or a signal. eventId is an alias of marketId,
// and signal is an alias of position.
var creationMembers = [...]string{"marketId", "eventId", "position", "signal", "priceBps", "confidence", "take", "marketTitle"}

// CreatePrediction handles POST /api/protocol/v1/predictions, which files a call and attests it as a prediction.
func (s *Server) CreatePrediction(c echo.Context) error { return s.create(c, message.PredictionCreate) }

// CreateSignal handles POST /api/protocol/v1/signals, which files a call and attests it as a signal.
func (s *Server) CreateSignal(c echo.Context) error { return s.create(c, message.SignalCreate) }

// create handles both creation routes. It files a call for the owner of the credential and attests it with a message of type t.
func (s *Server) create(c echo.Context, t message.Type) error {
	key, err := idempotencyKey(c)
	if err != nil {
		return request.InvalidRequest(err)
	}
	var sum hash.Hash
	if key != "" {
		sum = hashBody(c)
	}
	o, err := httpx.Decode(c, httpx.BodyLimit)
	if err != nil {
		return err
	}
	r := effect.Request{
		Type: t, MaxSlippage: request.Opt32(o, "maxSlippageBps", 0, int64(protocol.MaxBps)),
		AllowUnverified: view.AllowUnverified(o),
		DryRun:          dryRunOf(c, o),
	}
	if err := o.Err(); err != nil {
		return request.InvalidRequest(err)
	}
	if r.Payload, err = creationPayload(o); err != nil {
		return err
	}
	if key != "" {
		r.IdempotencyKey, r.BodyHash = routeKey(t, key), sum.Sum(nil)
	}
	filed, err := s.Creations.File(c.Request().Context(), creatorOf(request.Caller(c)), r)
	if err != nil {
		return s.creationError(c, err)
	}
	if r.DryRun {
		return httpx.OK(c, showDryFiled(filed.Filing, filed.Unconfirmed))
	}
	return httpx.OK(c, createdJSON{
		Filed: s.showFiled(filed.SignalID, filed.Filing), URI: filed.URI, MessageID: string(filed.MessageID),
	})
}

// routeKey returns the idempotency key that is sent to the ledger for a creation route. It contains the message type, so that the
// two routes never share a result. It contains a space, so that it never equals a key of /api/predictions. The hash bounds the
// length.
func routeKey(t message.Type, key string) string {
	sum := sha256.Sum256([]byte(key))
	return string(t) + " " + base64.RawURLEncoding.EncodeToString(sum[:])
}

// creatorOf returns the operator for whom a call is filed, and the credential. With an operator key, the ledger checks the key
// together with the write.
func creatorOf(who caller.Caller) effect.Caller {
	by := effect.Caller{Actor: who.Actor(), DenpaID: who.UserID(), Credential: effect.ByKey}
	if who.Kind == caller.Token {
		by.Actor = operator.Actor{ID: who.Delegate.UserID}
		by.AppID, by.Credential = who.Delegate.AppID, effect.ByToken
	}
	return by
}

// creationPayload returns the message payload of a creation body. Members that are null or unknown are left out. A member and its
// alias may both be present if their values are equal. Error: invalid_request.
func creationPayload(o httpx.Object) ([]byte, error) {
	members := map[string]json.RawMessage{}
	for _, name := range creationMembers {
		if v := o.Raw(name); v != nil {
			members[name] = v
		}
	}
	for name, alias := range map[string]string{"marketId": "eventId", "position": "signal"} {
		if v, ok := members[alias]; ok && string(members[name]) == string(v) {
			delete(members, alias)
		}
	}
	if take := o.OptString("take", httpx.BodyLimit); take != nil {
		plain, err := json.Marshal(protocol.PlainLines(*take))
		if err != nil {
			return nil, err
		}
		members["take"] = plain
	}
	if err := o.Err(); err != nil {
		return nil, request.InvalidRequest(err)
	}
	raw, err := json.Marshal(members)
	if err != nil {
		return nil, err
	}
	return message.Canonical(raw)
}

// creationError adds the receipt URL to an already_predicted error. A key that the ledger rejected is recorded, so that its next
// use fails early.
func (s *Server) creationError(c echo.Context, err error) error {
	if apperr.Of(err).Kind == apperr.Unauthenticated {
		err = s.Callers.Refused(c.Request().Context(), request.Caller(c), err)
	}
	return view.WithReceipt(s.HubURL, err)
}
