package pages

import (
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/httpx"
	"github.com/signalcast/signalcast/pkg/protocol"
	boardv1 "github.com/signalcast/signalcast/proto/board/v1"
	"github.com/signalcast/signalcast/services/hub/internal/board"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/pages/format"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/pages/site"
	"github.com/signalcast/signalcast/services/hub/internal/identityclaim"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
	"github.com/signalcast/signalcast/services/hub/internal/profile"
)

type profilePage struct {
	site.Layout
	passport
	Calls, Won, Lost int64
	Accuracy, Score  string
	Notice           string
	Form             profileForm
	Errors           map[string]string // error texts by field
	Address          string            // address of a rejected claim
	NewHandle        string            // handle that was typed
	HandleFrom       string            // date from which the handle can be changed again; empty: now
	Payout           payoutState
	Provider         string // name of the identity provider
	SignInAgain      string // URL of a new sign-in that a change needs; empty: none
	MaxBio           int
}

// profileForm has the values of the profile form as the user typed them.
type profileForm struct {
	DisplayName, Bio, Avatar, Links, Payout string
	FormerAvatar                            string // avatarUrl when the form was first shown
	Picture                                 string // uploaded picture in base64url; empty: none
}

// payoutState describes whether the operator can receive payouts, and if not, the reason.
type payoutState struct {
	Label, Text string
}

// profileNotices maps values of the query parameter "done" to the messages that the page shows after a successful change.
var profileNotices = map[string]string{
	"saved": "Profile saved.", "handle": "Handle changed. Your old address leads to the new one for 400 days.",
	"claimed": "Wallet linked. It is public.", "dropped": "Wallet removed.",
}

// profile handles GET /settings/profile, the page where visitors change their profile.
func (s *server) profile(c echo.Context) error {
	v, ok, err := s.RequireViewer(c, site.ProfilePath)
	if !ok {
		return err
	}
	account, err := s.People.Payouts.Accounts.ByID(c.Request().Context(), operator.ID(v.Session.UserID))
	if err != nil {
		return err
	}
	return s.showProfile(c, http.StatusOK, account, func(p *profilePage) {
		p.Notice = profileNotices[c.QueryParam("done")]
		for path, fill := range profileFills {
			if form := s.Draft(c, path); form != nil {
				fill(p, form)
				p.Notice = site.DraftNotice
			}
		}
	})
}

// profileFills has the functions that set what was typed in the forms of the profile page, by the paths to which the forms are sent.
var profileFills = map[string]func(*profilePage, url.Values){
	"/profile":                    func(p *profilePage, form url.Values) { p.Form = profileFormOf(form) },
	site.SettingsPath + "/handle": func(p *profilePage, form url.Values) { p.NewHandle = handleOf(form) },
	"/profile/claims":             func(p *profilePage, form url.Values) { p.Address = strings.TrimSpace(form.Get("address")) },
}

// showProfile renders the profile page of an account. The function set changes the page data before rendering.
func (s *server) showProfile(c echo.Context, status int, a identityclaim.Account, set func(*profilePage)) error {
	p := profilePage{
		Layout: s.NewLayout(c, "Your profile", "", ""), Errors: map[string]string{}, MaxBio: 280,
		Form: profileForm{
			DisplayName: a.DisplayName, Bio: a.Bio, Avatar: a.AvatarURL, Links: strings.Join(a.Links, "\n"),
			Payout: a.PayoutAddress, FormerAvatar: a.AvatarURL,
		},
		Payout: s.payoutOf(a), Provider: s.Provider, NewHandle: string(a.Handle),
	}
	if next := a.HandleChangedAt.Add(protocol.HandlePeriod); s.Now().Before(next) {
		p.HandleFrom = format.When(next)
	}
	g := site.NewPartReader(c.Request().Context(), site.PartsTimeout)
	p.passport = s.passportOf(g, a)
	r := site.CallPart(g, "record", s.Ledger.Boards.GetRecord, &boardv1.GetRecordRequest{OperatorId: string(a.ID)})
	p.Unavailable, p.Unlisted = g.Wait(), true
	won, lost := r.Value.GetWon(), r.Value.GetLost()
	p.Calls, p.Won, p.Lost, p.Score = r.Value.GetTotal(), won, lost, format.Signed(int(r.Value.GetScore()))
	if won+lost > 0 {
		p.Accuracy = format.Digits(board.Accuracy(won, lost)) + "%"
	}
	set(&p)
	return s.RenderParts(c, g, status, "profile", p)
}

func (s *server) payoutOf(a identityclaim.Account) payoutState {
	money := s.People.Payouts.Money
	switch {
	case money.ChainID == 0:
		return payoutState{Label: "Not available", Text: "This server makes no payouts. It stores the address for later."}
	case !a.Tier.Ranked():
		return payoutState{Label: "Not for bots", Text: "Bots do not receive payouts."}
	case a.PayoutAddress == "":
		return payoutState{Label: "No address yet", Text: "Enter an address for payouts on " + money.Label + "."}
	}
	text := "You receive payouts on " + money.Label + " at " + a.PayoutAddress + ". This address is public."
	return payoutState{Label: "Ready", Text: text}
}

// changeProfile handles POST /profile. The form always has all fields, so an empty field deletes its value, except for avatarUrl,
// which must differ from the address that the form showed. The display name must not be empty. The picture of a new address is
// fetched at once; if there is none, nothing is saved.
func (s *server) changeProfile(c echo.Context, account identityclaim.Account, form url.Values) error {
	input := profileFormOf(form)
	change := pictureChange(account, input)
	change.DisplayName, change.Bio, change.Links = &input.DisplayName, &input.Bio, append([]string{}, strings.Fields(input.Links)...)
	if input.Payout != account.PayoutAddress { // a change needs a recent sign-in
		change.PayoutAddress = changeTo(input.Payout)
	}
	ctx, refuse := c.Request().Context(), func(field, problem string) error {
		return s.showProfile(c, http.StatusBadRequest, account, func(p *profilePage) { p.Form, p.Errors[field] = input, problem })
	}
	if _, err := profile.Check(change); fieldOf(err) != "" { // an invalid address is not fetched
		return refuse(fieldOf(err), profileErrors[fieldOf(err)])
	}
	jpeg, problem, err := s.pictureOf(ctx, account.ID, change, input.Picture)
	switch {
	case err != nil:
		return err
	case problem != "":
		input.Picture = "" // the next form must not send it again
		return refuse("avatarUrl", problem)
	case change.OwnPicture:
		change.Avatar = changeTo(s.People.Pictures.UploadAddress(account.Handle, jpeg))
	}
	err = s.People.Profiles.Update(ctx, account.ID, s.Viewer(c).Session.SignedInAt, change)
	if errors.Is(err, operator.ErrSession) {
		return s.showProfile(c, http.StatusForbidden, account, func(p *profilePage) {
			p.Form, p.Errors["payoutAddress"] = input, "Nothing was saved. Sign in again, and save within 15 minutes."
			p.SignInAgain = s.StartSignIn(c, site.ProfilePath)
		})
	}
	if field := fieldOf(err); field != "" {
		return refuse(field, profileErrors[field])
	}
	if err == nil && jpeg != nil {
		err = s.People.Pictures.Replace(ctx, account.ID, *change.Avatar.Text, jpeg)
	}
	if err != nil {
		return err
	}
	return s.Finish(c, site.ProfilePath+"?done=saved")
}

// profileFormOf returns the values of a submitted profile form.
func profileFormOf(form url.Values) profileForm {
	return profileForm{
		DisplayName: strings.TrimSpace(form.Get("displayName")),
		Bio:         strings.TrimSpace(strings.ReplaceAll(form.Get("bio"), "\r\n", "\n")),
		Avatar:      strings.TrimSpace(form.Get("avatarUrl")), Links: strings.TrimSpace(form.Get("links")),
		Payout: strings.TrimSpace(form.Get("payoutAddress")), Picture: form.Get("picture"),
		FormerAvatar: strings.TrimSpace(form.Get("formerAvatarUrl")),
	}
}

// profileErrors has the error texts of the profile form, by field.
var profileErrors = map[string]string{
	"displayName":   "Enter 1 to 64 characters on one line.",
	"bio":           "Enter at most 280 characters.",
	"avatarUrl":     "Enter a URL that starts with https:// and has at most 500 ASCII characters, or leave it empty.",
	"links":         "Enter at most 5 URLs that start with https://, one per line.",
	"payoutAddress": "Enter 0x and 40 hex digits, as your wallet shows it, or leave it empty.",
}

func changeTo(text string) operator.Change {
	if text == "" {
		return operator.Change{Given: true}
	}
	return operator.Change{Given: true, Text: &text}
}

// fieldOf returns the name of the form field that an error names, or "" if it names none.
func fieldOf(err error) string {
	f := apperr.Of(err)
	if f == nil || f.Kind != apperr.Invalid {
		return ""
	}
	field, _ := f.Extra["field"].(string)
	return field
}

// accountForm returns a handler that passes the account of the signed-in visitor and the form to the function do. If the token of
// the form is not that of the visitor, the handler shows the profile page again, with what was typed. A form of profileFills whose
// session has ended waits for a sign-in. The handler returns the other errors of site.ReadForm.
func (s *server) accountForm(do func(echo.Context, identityclaim.Account, url.Values) error) echo.HandlerFunc {
	return func(c echo.Context) error {
		v, form, err := s.ReadForm(c)
		fill, expired := profileFills[c.Request().URL.Path], site.IsExpired(err)
		switch {
		case err != nil && !expired && fill != nil:
			return s.SaveSignedOut(c, err, form, site.ProfilePath)
		case err != nil && !expired:
			return err
		}
		account, err := s.People.Payouts.Accounts.ByID(c.Request().Context(), operator.ID(v.Session.UserID))
		if err != nil {
			return err
		}
		if expired {
			return s.showProfile(c, http.StatusForbidden, account, func(p *profilePage) {
				p.Notice = site.ErrFormExpired.Message
				if fill != nil {
					fill(p, form)
				}
			})
		}
		return do(c, account, form)
	}
}

// claimWallet handles POST /profile/claims, which links a wallet address to the account.
func (s *server) claimWallet(c echo.Context, account identityclaim.Account, form url.Values) error {
	raw := strings.TrimSpace(form.Get("address"))
	address, err := identityclaim.ParseAddress(raw)
	if err == nil {
		var station identityclaim.Station
		if station, err = s.station(form); err != nil {
			return err
		}
		_, err = s.People.Claims.Claim(c.Request().Context(), account.ID, station, address, "")
	}
	if input := s.claimError(apperr.Of(err)); input != "" {
		return s.showProfile(c, httpx.Status(apperr.Of(err).Kind), account, func(p *profilePage) {
			p.Address, p.Errors["address"] = raw, input
		})
	}
	if err != nil {
		return err
	}
	return s.Finish(c, site.ProfilePath+"?done=claimed")
}

// station returns the station that is selected in the form. Error: identityclaim.ErrStation with a text for the page.
func (s *server) station(form url.Values) (identityclaim.Station, error) {
	station, err := s.People.Claims.Station(form.Get("station"))
	if errors.Is(err, identityclaim.ErrStation) {
		return station, identityclaim.ErrStation.WithText("Wallets cannot be linked to this station.")
	}
	return station, err
}

// claimError returns the error text of a rejected claim; "" if the user cannot correct the error.
func (s *server) claimError(f *apperr.Fault) string {
	switch {
	case f == nil:
		return ""
	case f.Code == identityclaim.ErrAddress.Code:
		return "Enter 0x and 40 hex digits, as your wallet shows it, or a Solana address."
	case f.Code == identityclaim.ErrNotLinked.Code:
		return "This wallet is not linked to your account at " + s.Provider + ". Link it there first."
	case f.Code == "identity_provider_unavailable":
		return "Your account at " + s.Provider + " cannot be checked. Try again in a minute."
	}
	return ""
}

// dropClaim handles POST /profile/claims/drop, which removes the wallet of a station.
func (s *server) dropClaim(c echo.Context, account identityclaim.Account, form url.Values) error {
	station, err := s.station(form)
	if err != nil {
		return err
	}
	if _, err := s.People.Claims.Drop(c.Request().Context(), account.ID, station); err != nil {
		return err
	}
	return site.Redirect(c, site.ProfilePath+"?done=dropped")
}
