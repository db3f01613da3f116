package profile

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"log/slog"
	"time"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/protocol"
	operatorv1 "github.com/signalcast/signalcast/proto/operator/v1"
	"github.com/signalcast/signalcast/services/hub/internal/identityclaim"
	"github.com/signalcast/signalcast/services/hub/internal/message"
	"github.com/signalcast/signalcast/services/hub/internal/notification"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
)

// Errors of invalid members of a profile.
var (
	ErrDisplayName = apperr.New(apperr.Invalid, "invalid_display_name",
		"displayName must be 1 to 64 visible characters on one line, without format characters").With("field", "displayName")
	ErrBio = apperr.New(apperr.Invalid, "invalid_bio",
		"bio must have at most 280 characters, without control characters (except line feeds), "+
			"marks of the writing direction or private use characters").With("field", "bio")
	ErrAvatar = apperr.New(apperr.Invalid, "invalid_avatar_url",
		"avatarUrl must be an https URL of at most 500 ASCII characters, without a user name, or null").With("field", "avatarUrl")
	ErrLinks = apperr.New(apperr.Invalid, "invalid_links",
		"links must be at most 5 https URLs of at most 500 ASCII characters, without a user name").With("field", "links")
	ErrPayout = apperr.New(apperr.Invalid, "invalid_payout_address",
		"payoutAddress must be 0x and 40 hex digits (in mixed case with an EIP-55 checksum), not all zeros, or null").
		With("field", "payoutAddress")
)

// ofMember maps each member name of profile.update to the error for an invalid value.
var ofMember = map[string]*apperr.Fault{
	"displayName": ErrDisplayName, "bio": ErrBio, "avatar": ErrAvatar, "links": ErrLinks, "payoutAddress": ErrPayout,
}

// Store stores what belongs to a profile outside the ledger.
type Store interface {
	notification.Notices
	// DeletePicture deletes the picture of an operator. Error: db_unavailable.
	DeletePicture(ctx context.Context, of operator.ID) error
}

// Service changes profiles of operators in the ledger.
type Service struct {
	ledger operatorv1.OperatorServiceClient
	store  Store
	log    *slog.Logger
	newID  func() string
	now    func() time.Time
}

// NewService builds a Service. newID must return a unique id. An operator is notified of a new payout address.
func NewService(
	ledger operatorv1.OperatorServiceClient, store Store, log *slog.Logger, newID func() string, now func() time.Time,
) *Service {
	return &Service{ledger: ledger, store: store, log: log, newID: newID, now: now}
}

// Update changes the given members of the profile of the operator me. An empty change does nothing. signedInAt is the time of the
// sign-in of the caller's session, or zero for other credentials. If the operator cannot be notified of a stored payout address,
// Update only logs the error. Errors: session_required, the errors of Check and of Apply.
func (s *Service) Update(ctx context.Context, me operator.ID, signedInAt time.Time, p operator.Profile) error {
	if p.PayoutAddress.Given && !operator.IsFresh(signedInAt, s.now()) {
		return operator.ErrSession
	}
	p, err := Check(p)
	if err != nil || empty(p) && !p.Automated {
		return err
	}
	// The change has no signed message, so it gets a random id instead of the hash of a message.
	sum := sha256.Sum256([]byte("profile\n" + s.newID()))
	id := "msg_" + hex.EncodeToString(sum[:])
	if err = s.Apply(ctx, me, id, p); err != nil || !p.PayoutAddress.Given {
		return err
	}
	text := ""
	if to := p.PayoutAddress.Text; to != nil {
		text = *to
	}
	if err := s.store.Notify(ctx, me, notification.PayoutChanged, id, text, s.now()); err != nil {
		s.log.WarnContext(ctx, "notification of a payout address failed", "operator", me, "error", err)
	}
	return nil
}

// Apply changes the given members of the profile of an operator without checking them, once for each message id. It deletes the
// stored picture if avatarUrl is cleared, also when it is repeated. Errors: db_unavailable, and the errors of the ledger.
func (s *Service) Apply(ctx context.Context, of operator.ID, messageID string, p operator.Profile) error {
	if _, err := s.ledger.UpdateProfile(ctx, p.UpdateRequest(of, messageID)); err != nil || !p.Avatar.Given || p.Avatar.Text != nil {
		return err
	}
	return s.store.DeletePicture(ctx, of)
}

// Check validates a profile against the schema of profile.update, and verifies the checksum of the payout address. It returns
// the profile with LF line breaks in the bio and the payout address in canonical form. For an invalid member, it returns the
// error of the member, such as ErrBio or ErrPayout.
func Check(p operator.Profile) (operator.Profile, error) {
	given := members(p)
	if len(given) == 0 {
		return p, nil
	}
	payload, err := json.Marshal(given)
	if err != nil {
		return p, err
	}
	if _, err := message.ReadPayload(message.ProfileUpdate, payload, false); err != nil {
		field, _ := apperr.Of(err).Extra["field"].(string)
		if known, ok := ofMember[field]; ok {
			return p, known
		}
		return p, err
	}
	if p.Bio != nil {
		bio := protocol.PlainLines(*p.Bio)
		p.Bio = &bio
	}
	if p.PayoutAddress.Text == nil {
		return p, nil
	}
	address, err := identityclaim.ParsePayout(*p.PayoutAddress.Text)
	if err != nil {
		return p, ErrPayout
	}
	spelled := address.String()
	p.PayoutAddress.Text = &spelled
	return p, nil
}

func empty(p operator.Profile) bool {
	return p.DisplayName == nil && p.Bio == nil && !p.Avatar.Given && p.Links == nil && !p.PayoutAddress.Given
}

// members returns the given members of a profile change as the payload of a profile.update message.
func members(p operator.Profile) map[string]any {
	out := map[string]any{}
	if p.DisplayName != nil {
		out["displayName"] = *p.DisplayName
	}
	if p.Bio != nil {
		out["bio"] = *p.Bio
	}
	if p.Avatar.Given && !p.OwnPicture {
		out["avatar"] = p.Avatar.Text
	}
	if p.Links != nil {
		out["links"] = p.Links
	}
	if p.PayoutAddress.Given {
		out["payoutAddress"] = p.PayoutAddress.Text
	}
	return out
}
