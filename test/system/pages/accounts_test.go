package pages

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"golang.org/x/oauth2"

	"github.com/signalcast/signalcast/test/system/browser"
	"github.com/signalcast/signalcast/test/system/stack"
)

// TestSignInAndFollow checks that a visitor who presses follow can sign in, returns to the profile, and can follow, unfollow
// and sign out.
func TestSignInAndFollow(t *testing.T) {
	t.Parallel()
	s := system(t)
	atBothSizes(t, func(t *testing.T, size browser.Size) {
		followed, p := s.NewOperator(t), s.NewOperator(t)
		call := followed.NewCall(t, s.NewNativeMarket(t, 4000, nil), "YES", 4000, nil)
		page, b, session := s.Hub+"/u/"+followed.Handle, browser.Open(t, size), p.Session(t)
		read(t, s.Issuer()+"/passports/"+followed.Handle).Expect(stack.JSON{"urls.profile": page})
		b.VisitWhole(page)
		b.Shows("main", "@"+followed.Handle, "Independent", "Recent calls", "40¢", "Sign in to follow")
		b.RequireFits()
		b.Press(`.row a.button`, `main h1`)
		b.Shows("main", "Sign in to Signalcast", "the development issuer", "the profile of @"+followed.Handle)
		b.RequireFits()
		b.Press(`a.button`, `#user`)
		b.SignIn(p.Handle, `form[action$="/follow"]`)
		requireURL(t, b, page)
		b.Press(`form[action$="/follow"] button`, `form[action$="/unfollow"]`)
		b.Shows("main", "You follow @"+followed.Handle)
		b.RequireFits()
		follow := s.Hub + "/api/user/follow?handle=" + followed.Handle
		read(t, follow, session).Expect(stack.JSON{"isFollowing": true, "following": 1})
		b.Press(`form[action$="/unfollow"] button`, `form[action$="/follow"]`)
		read(t, follow, session).Expect(stack.JSON{"isFollowing": false, "followers": 0})
		b.Press(`.calls-of a`, `.ticket`)
		requireURL(t, b, s.Hub+"/receipts/"+call)
		b.Click(".me.account summary", ".me.account form button")
		b.Shows("header.bar", "Signed in as @"+p.Handle)
		b.Visit(s.Hub+"/u/"+p.Handle, http.StatusOK)
		b.Shows("main", "Edit your profile")
		b.Visit(s.Hub+"/sign-in?return_to=/settings/apps", http.StatusOK)
		b.Shows("main", "You are signed in", "@"+p.Handle, "your connected apps", "Not you?")
		b.SignOut()
		b.Visit(s.Hub+"/settings/apps", http.StatusOK) // redirects to the identity provider again
		b.Text("#user")
		b.RequireNoProblems()
	})
	if read(t, s.Hub+"/sign-in?return_to="+url.QueryEscape("https://evil.example/apps")).Contains("evil") {
		t.Error("the sign-in redirects to another site")
	}
	stack.Get(t, s.Hub+"/u/nobody_of_that_name").Require(http.StatusNotFound)
}

func requireURL(t *testing.T, b *browser.Tab, want string) {
	t.Helper()
	if got := b.URL(); got != want {
		t.Errorf("the browser is at %s; want %s", got, want)
	}
}

// chooseFile is a function of a script that chooses a file in the form of a profile.
const chooseFile = `((file) => {
	const files = new DataTransfer();
	files.items.add(file);
	const input = document.querySelector("#upload input");
	input.files = files.files;
	input.dispatchEvent(new Event("change"));
	return true;
})`

// choosePicture is a script that chooses a file of 600 by 400 pixels with noise in the form of a profile.
const choosePicture = `(async () => {
	const canvas = Object.assign(document.createElement("canvas"), { width: 600, height: 400 });
	const context = canvas.getContext("2d");
	for (let x = 0; x < 600; x += 4) for (let y = 0; y < 400; y += 4) {
		context.fillStyle = "hsl(" + Math.random() * 360 + " 80% 50%)";
		context.fillRect(x, y, 4, 4);
	}
	const file = new File([await new Promise(done => canvas.toBlob(done))], "noise.png", { type: "image/png" });
	return ` + chooseFile + `(file);
})()`

// TestProfilePage checks the form of a profile. It must show mistakes at their fields, and save the profile, which other people
// then see. A person must be able to claim and release a wallet that is linked at the identity provider.
func TestProfilePage(t *testing.T) {
	t.Parallel()
	s := system(t)
	atBothSizes(t, func(t *testing.T, size browser.Size) {
		wallet, b, p := stack.NewWallet(), browser.Open(t, size), s.NewOperator(t)
		const form = `form[action="/profile"]`
		b.Visit(s.Hub+"/sign-in", http.StatusOK)
		b.Press(`a.button`, `#user`)
		b.SignIn(p.Handle, form)
		b.Shows("main", "@"+p.Handle, "Payouts", "No linked wallets yet")
		b.Fill(form, map[string]string{
			"displayName": "Mara K <i>", "bio": "Rivers do not read polls.\nNor do I.",
			"links": "https://mara.example/a\nhttp://mara.example/b",
		})
		b.Press(form+` > button`, `.field-error`)
		b.Shows(".field-error", "https://, one per line")
		b.RequireFits()
		b.Fill(form, map[string]string{"links": "https://mara.example/a https://mara.example/b", "payoutAddress": wallet[:40]})
		b.Press(form+` > button`, `[name="payoutAddress"][aria-invalid]`)
		b.Fill(form, map[string]string{"payoutAddress": wallet, "avatarUrl": "https://127.0.0.1/mara.png"})
		b.Press(form+` > button`, `[name="avatarUrl"][aria-invalid]`)
		b.Shows(".field-error", "does not answer with a picture")
		b.Fill(form, map[string]string{"avatarUrl": "", "payoutAddress": wallet[:40]})
		browser.Eval[bool](b, choosePicture)
		b.Await(`#upload [role="status"]`, "Save the profile to use this picture.")
		browser.Eval[bool](b, chooseFile+`(new File(["text"], "notes.txt", { type: "image/png" }))`)
		b.Await(`#upload [role="status"]`, "not a picture that the browser can read")
		const isEmpty = `document.querySelector("#upload input").files.length === 0 &&
			document.querySelector("#chosen").hidden && !document.querySelector("#chosen input").checked`
		if !browser.Eval[bool](b, isEmpty) {
			t.Error("the form has a file that is not a picture")
		}
		browser.Eval[bool](b, choosePicture)
		b.Await(`#upload [role="status"]`, "Save the profile to use this picture.")
		b.RequireFits()
		b.Press(form+` > button`, `[name="payoutAddress"][aria-invalid]`)
		b.Shows("#chosen:not([hidden]):has(:checked)", "Use the chosen picture")
		b.RequireFits()
		b.Fill(form, map[string]string{"payoutAddress": wallet})
		b.Press(form+` > button`, `[role="status"]`)
		b.Forget("status of 400") // of the submissions with mistakes
		b.Shows("main", "saved", "Mara K <i>", "Rivers do not read polls.")
		for _, at := range []string{".bar", ".passport"} {
			if width := browser.Eval[int](b, `(async () => {
				const image = document.querySelector("`+at+` .avatar img");
				await image.decode();
				return image.naturalWidth;
			})()`); width != 192 {
				t.Errorf("the picture in %s is %d pixels wide, want 192", at, width)
			}
		}
		b.RequireFits()
		profile := read(t, s.Hub+"/api/streamer/profile?handle="+p.Handle)
		avatar := profile.Text("avatarUrl")
		if !strings.HasPrefix(avatar, s.Hub+"/u/"+p.Handle+"/picture?v=") {
			t.Errorf("avatarUrl is %s", avatar)
		}
		profile.Expect(stack.JSON{
			"displayName": "Mara K <i>", "bio": "Rivers do not read polls.\nNor do I.",
			"links.0": "https://mara.example/a", "links.1": "https://mara.example/b", "profileUrl": s.Hub + "/u/" + p.Handle,
		})
		read(t, s.Issuer()+"/passports/"+p.Handle).
			Expect(stack.JSON{"displayName": "Mara K <i>", "avatar": avatar})

		const claims = `form[action="/profile/claims"]`
		b.Fill(claims, map[string]string{"address": wallet})
		b.Press(claims+` button`, `#claims .field-error`)
		b.Forget("status of 403")
		b.Shows("#claims", "is not linked to your account at")
		p.LinkWallet(t, wallet)
		b.Press(claims+` button`, `.claim`)
		b.Shows(".claim", wallet, "partner")
		b.RequireFits()
		b.Visit(s.Hub+"/u/"+p.Handle, http.StatusOK)
		b.Shows("main", "Mara K <i>", "https://mara.example/b", wallet)
		b.RequireFits()
		b.Visit(s.Hub+"/settings/profile", http.StatusOK)
		b.Press(`.claim button`, `#claims .empty-line`)
		if n := len(read(t, s.Hub+"/api/network/identity/"+p.Handle).List("identities")); n != 0 {
			t.Errorf("%d claimed identities remain after their release; want 0", n)
		}
		b.RequireNoProblems()
	})
}

// TestConsentOfAnotherAccount checks that a person can change the account on the consent page of an application and then
// returns to the same page. The buttons to deny and approve must look equal. The application must receive a denial with its
// state parameter.
func TestConsentOfAnotherAccount(t *testing.T) {
	t.Parallel()
	s := system(t)
	callback, answers := newCallback(t)
	app := newApp(t, s, callback, "profile:read", "signal:create", "signer:create", "offline_access", "profile:update")
	b, first, second := browser.Open(t, browser.Phone), s.NewOperator(t), s.NewOperator(t)
	b.Visit(app.AuthCodeURL("state é", oauth2.S256ChallengeOption(oauth2.GenerateVerifier())), http.StatusOK)
	b.SignIn(first.Handle, `form.decide`)
	b.Shows("main", "You are @"+first.Handle, "For at most 14 days", "a program on this device", "It cannot change your handle",
		"No app can sign in as you", "You can disconnect it at any time")
	b.RequireFits()
	const looks = `[...document.querySelectorAll(".decide button")].map(e => {
		const r = e.getBoundingClientRect(), c = getComputedStyle(e);
		return [r.width, r.height, r.top].map(Math.round).concat([c.borderTopWidth, c.fontSize, c.fontWeight]).join(" ");
	})`
	if got := browser.Eval[[]string](b, looks); len(got) != 2 || got[0] != got[1] {
		t.Errorf("the buttons have the styles %q; want equal styles", got)
	}
	b.Press(`.as button`, `a.button`)
	b.Shows("main", "the app that asked to connect")
	b.Press(`a.button`, `#user`)
	b.SignIn(second.Handle, `form.decide`)
	b.Shows("main", "You are @"+second.Handle)
	b.Press(`form.decide button[value="deny"]`, `#done`)
	if got := <-answers; got.Get("error") != "access_denied" || got.Get("state") != "state é" {
		t.Errorf("the application received %v; want access_denied with its state", got)
	}
	b.RequireNoProblems()
}

// newCallback serves the redirect URL of an application until the test ends. It sends the query of each request to answers. Its
// page contains an element with the id done.
func newCallback(t *testing.T) (address string, answers <-chan url.Values) {
	t.Helper()
	got := make(chan url.Values, 4)
	mux := http.NewServeMux()
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	mux.HandleFunc("/cb", func(w http.ResponseWriter, r *http.Request) {
		got <- r.URL.Query()
		http.Redirect(w, r, strings.Replace(server.URL, "127.0.0.1", "localhost", 1)+"/done", http.StatusSeeOther)
	})
	mux.HandleFunc("/done", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte(`<link rel="icon" href="data:,"><p id="done">Connected.</p>`))
	})
	return server.URL + "/cb", got
}

// withoutPort returns a loopback URL without its port, because registered loopback redirect URLs need no port.
func withoutPort(t *testing.T, address string) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	u.Host = u.Hostname()
	return u.String()
}

// newApp registers a public application of a new operator.
func newApp(t *testing.T, s *stack.Stack, callback string, scopes ...string) *oauth2.Config {
	t.Helper()
	owner := s.NewOperator(t)
	id := owner.Send(t, "/api/dev/apps", http.StatusCreated, stack.Bearer(owner.Login), stack.JSON{
		"name": "Tide <script>table()</script>", "type": "public", "redirectUris": []string{withoutPort(t, callback)}, "scopes": scopes,
	}).Text("clientId")
	return oauthConfig(s, id, "", callback, scopes...)
}

func oauthConfig(s *stack.Stack, id, secret, callback string, scopes ...string) *oauth2.Config {
	return &oauth2.Config{
		ClientID: id, ClientSecret: secret, RedirectURL: callback, Scopes: scopes,
		Endpoint: oauth2.Endpoint{
			AuthURL: s.Hub + "/protocol/authorize", TokenURL: s.Issuer() + "/oauth/token", AuthStyle: oauth2.AuthStyleInParams,
		},
	}
}
