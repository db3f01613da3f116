package pages

import (
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/fault"
	"github.com/signalcast/signalcast/pkg/web"
	"github.com/signalcast/signalcast/services/hub/internal/claim"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
)

const profilePath = "/profile"

type profilePage struct {
	frame
	passport
	Notice  string
	Form    profileForm
	Errors  map[string]string // by field
	Address string            // of the claim that was refused
	Payout  payoutState
	MaxBio  int
}

// profileForm is what somebody says of themselves, as the form has it.
type profileForm struct {
	DisplayName, Bio, Avatar, Links, Payout string
}

// payoutState says whether somebody may be paid, and what is in the way.
type payoutState struct {
	Ready      bool
	Word, Text string
}

// notices are what the page says after a form, by the word in its address.
var notices = map[string]string{
	"saved": "Your profile is saved.", "claimed": "The wallet is yours for everybody to see.", "dropped": "The claim is taken back.",
}

// profile is GET /profile.
func (s *site) profile(c echo.Context) error {
	v, ok, err := s.needed(c, profilePath)
	if !ok {
		return err
	}
	account, err := s.People.Accounts.AccountByID(c.Request().Context(), operator.ID(v.who.UserID))
	if err != nil {
		return err
	}
	return s.showProfile(c, http.StatusOK, account, func(p *profilePage) { p.Notice = notices[c.QueryParam("done")] })
}

// showProfile is the page of an account; set changes it before it is shown.
func (s *site) showProfile(c echo.Context, status int, a claim.Account, set func(*profilePage)) error {
	p := profilePage{
		frame: s.frame(c, "Your profile", "", ""), Errors: map[string]string{}, MaxBio: 280,
		Form: profileForm{
			DisplayName: a.DisplayName, Bio: a.Bio, Avatar: a.AvatarURL, Links: strings.Join(a.Links, "\n"), Payout: a.PayoutAddress,
		},
		Payout: s.payoutOf(a),
	}
	p.Unlisted = true
	g := newGather(c.Request().Context())
	p.passport = passportOf(a)
	s.gatherPassport(g, a.ID, &p.passport)
	g.done()
	p.finish(g)
	set(&p)
	s.lessThanWhole(c, g)
	return s.render(c, status, "profile", p)
}

func (s *site) payoutOf(a claim.Account) payoutState {
	money := s.People.Payouts.Money
	switch {
	case money.ChainID == 0:
		return payoutState{Word: "Not here", Text: "This hub pays nobody out. An address is kept for when it does."}
	case !a.Tier.Ranked():
		return payoutState{Word: "Not for machines", Text: "Payouts go to people."}
	case a.PayoutAddress == "":
		return payoutState{Word: "No address yet", Text: "Say below where you want to be paid on " + money.Label + "."}
	}
	return payoutState{Ready: true, Word: "Ready", Text: "You are paid on " + money.Label + " at " + a.PayoutAddress + ". Everybody can read that."}
}

// changeProfile is POST /profile: the whole form, so what is empty is taken away.
func (s *site) changeProfile(c echo.Context) error {
	account, form, err := s.ownAccount(c)
	if err != nil {
		return err
	}
	said := profileForm{
		DisplayName: strings.TrimSpace(form.Get("displayName")), Bio: strings.TrimSpace(strings.ReplaceAll(form.Get("bio"), "\r\n", "\n")),
		Avatar: strings.TrimSpace(form.Get("avatarUrl")), Links: strings.TrimSpace(form.Get("links")), Payout: strings.TrimSpace(form.Get("payoutAddress")),
	}
	change := operator.Profile{
		DisplayName: &said.DisplayName, Bio: &said.Bio, Avatar: changeTo(said.Avatar),
		Links: append([]string{}, strings.Fields(said.Links)...),
	}
	if said.Payout != account.PayoutAddress { // a change needs a recent sign-in
		change.PayoutAddress = changeTo(said.Payout)
	}
	err = s.People.Profiles.Update(c.Request().Context(), account.ID, s.visit(c).who.SignedInAt, change)
	if errors.Is(err, operator.ErrSession) {
		return s.showProfile(c, http.StatusForbidden, account, func(p *profilePage) {
			p.Form, p.Errors["payoutAddress"] = said, "Nothing was saved. Sign out and sign in again, then save this within 15 minutes."
		})
	}
	if field := fieldOf(err); field != "" {
		return s.showProfile(c, http.StatusBadRequest, account, func(p *profilePage) {
			p.Form, p.Errors[field] = said, profileMistakes[field]
		})
	}
	if err != nil {
		return err
	}
	return done(c, profilePath+"?done=saved")
}

// profileMistakes says what is wrong with a field to who typed it.
var profileMistakes = map[string]string{
	"displayName":   "A name has 1 to 64 characters on one line.",
	"bio":           "This may have 280 characters.",
	"avatarUrl":     "An address that begins with https:// and has at most 500 characters, or nothing.",
	"links":         "At most 5 addresses that begin with https://, one on each line.",
	"payoutAddress": "0x and 40 hex digits, spelled as your wallet shows it, or nothing.",
}

func changeTo(text string) operator.Change {
	if text == "" {
		return operator.Change{Given: true}
	}
	return operator.Change{Given: true, Text: &text}
}

// fieldOf is the field that a fault is about; empty: it is about none.
func fieldOf(err error) string {
	f := fault.Of(err)
	if f == nil || f.Kind != fault.Invalid {
		return ""
	}
	field, _ := f.Extra["field"].(string)
	return field
}

// ownAccount is the account of somebody whose form of ours this is.
func (s *site) ownAccount(c echo.Context) (claim.Account, url.Values, error) {
	v, err := s.actor(c)
	if err != nil {
		return claim.Account{}, nil, err
	}
	form, err := s.form(c)
	if err != nil {
		return claim.Account{}, nil, err
	}
	account, err := s.People.Accounts.AccountByID(c.Request().Context(), operator.ID(v.who.UserID))
	return account, form, err
}

// claimWallet is POST /profile/claims.
func (s *site) claimWallet(c echo.Context) error {
	account, form, err := s.ownAccount(c)
	if err != nil {
		return err
	}
	raw := strings.TrimSpace(form.Get("address"))
	address, err := claim.ParseAddress(raw)
	if err == nil {
		var station claim.Station
		if station, err = s.People.Claims.Station(form.Get("station")); err != nil {
			return err
		}
		_, err = s.People.Claims.Claim(c.Request().Context(), account.ID, station, address, "")
	}
	if said := claimMistake(fault.Of(err)); said != "" {
		return s.showProfile(c, web.Status(fault.Of(err).Kind), account, func(p *profilePage) { p.Address, p.Errors["address"] = raw, said })
	}
	if err != nil {
		return err
	}
	return done(c, profilePath+"?done=claimed")
}

// claimMistake says what is wrong with a claim to who made it; empty: nothing that
// they could do something about.
func claimMistake(f *fault.Fault) string {
	switch {
	case f == nil:
		return ""
	case f.Code == claim.ErrAddress.Code:
		return "0x and 40 hex digits, spelled as your wallet shows it, or a Solana address."
	case f.Code == claim.ErrNotLinked.Code:
		return "Your sign-in does not know this wallet. Link it there first."
	case f.Code == "identity_provider_unavailable":
		return "Your sign-in cannot be asked right now. Try again shortly."
	}
	return ""
}

// dropClaim is POST /profile/claims/drop.
func (s *site) dropClaim(c echo.Context) error {
	account, form, err := s.ownAccount(c)
	if err != nil {
		return err
	}
	station, err := s.People.Claims.Station(form.Get("station"))
	if err != nil {
		return err
	}
	if _, err := s.People.Claims.Drop(c.Request().Context(), account.ID, station); err != nil {
		return err
	}
	return done(c, profilePath+"?done=dropped")
}
