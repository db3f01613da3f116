// Checks the authorization server with a strict OAuth 2 client, which validates every answer by the RFCs.
import * as oauth from 'oauth4webapi';
import { check, decide, equal, need, refused, send, expectStatus, assert } from './lib.mjs';

const issuer = need('ISSUER');
const plain = { [oauth.allowInsecureRequests]: true };
const app = { id: { client_id: need('PUBLIC_APP') }, auth: oauth.None(), redirect: 'http://127.0.0.1:8421/callback' };
const secret = need('CONFIDENTIAL_SECRET');
const server = { id: { client_id: need('CONFIDENTIAL_APP') }, auth: oauth.ClientSecretBasic(secret), redirect: 'https://app.example/cb' };
const me = new URL(`${issuer}/me`);
const online = 'profile:read';
const offline = 'profile:read offline_access';

let as;
await check('metadata is found at the well-known address of an issuer with a path', async () => {
  const answer = await oauth.discoveryRequest(new URL(issuer), { ...plain, algorithm: 'oauth2' });
  equal(answer.url, need('HUB') + '/.well-known/oauth-authorization-server/api/protocol/v1', 'the address');
  as = await oauth.processDiscoveryResponse(new URL(issuer), answer);
});
await check('the metadata states what is supported: code, S256, iss in answers', () => {
  equal(as.response_types_supported, ['code']);
  equal(as.code_challenge_methods_supported, ['S256']);
  equal(as.grant_types_supported, ['authorization_code', 'refresh_token']);
  equal(as.authorization_response_iss_parameter_supported, true);
});
await check('the metadata of the protected resource names the authorization server', async () => {
  const answer = await oauth.resourceDiscoveryRequest(new URL(issuer), plain);
  const resource = await oauth.processResourceDiscoveryResponse(new URL(issuer), answer);
  equal([resource.authorization_servers, resource.bearer_methods_supported], [[issuer], ['header']]);
});

const state = 'state-é-1';

// ask returns an authorization request. changes replace parameters; null removes one.
async function ask(client, scope, changes = {}) {
  const verifier = oauth.generateRandomCodeVerifier();
  const url = new URL(as.authorization_endpoint);
  const parameters = {
    response_type: 'code', client_id: client.id.client_id, redirect_uri: client.redirect, scope, state,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier), code_challenge_method: 'S256', ...changes,
  };
  for (const [name, value] of Object.entries(parameters)) if (value !== null) url.searchParams.set(name, value);
  return { url, verifier };
}

// code returns an authorization code after a person has approved.
async function code(client, scope) {
  const { url, verifier } = await ask(client, scope);
  return { parameters: oauth.validateAuthResponse(as, client.id, await decide(url), state), verifier };
}

async function redeem(client, { parameters, verifier }) {
  const answer = await oauth.authorizationCodeGrantRequest(as, client.id, client.auth, parameters, client.redirect, verifier, plain);
  return oauth.processAuthorizationCodeResponse(as, client.id, answer);
}

const tokens = async (client, scope) => redeem(client, await code(client, scope));

async function refresh(client, token) {
  const answer = await oauth.refreshTokenGrantRequest(as, client.id, client.auth, token, plain);
  return oauth.processRefreshTokenResponse(as, client.id, answer);
}

const use = (token, method = 'GET', url = me) => oauth.protectedResourceRequest(token, method, url, undefined, undefined, plain);
const alive = async (token) => equal((await use(token)).status, 200, 'the status');
const dead = (token) => refused(use(token), (err) => err.status === 401 && err.cause?.[0]?.parameters.error === 'invalid_token');
const is = (error, status = 400) => (err) => err.error === error && err.status === status;
const revoke = async (client, token) => oauth.processRevocationResponse(await oauth.revocationRequest(as, client.id, client.auth, token, plain));
const look = async (client, token) =>
  oauth.processIntrospectionResponse(as, client.id, await oauth.introspectionRequest(as, client.id, client.auth, token, plain));

let first;
await check('the answer of the consent page contains its issuer, and another issuer is refused', async () => {
  const { url, verifier } = await ask(app, offline);
  const back = await decide(url);
  equal(back.searchParams.get('iss'), issuer, 'iss');
  const foreign = new URL(back);
  foreign.searchParams.set('iss', 'https://other.example');
  await refused(Promise.resolve().then(() => oauth.validateAuthResponse(as, app.id, foreign, state)));
  first = { parameters: oauth.validateAuthResponse(as, app.id, back, state), verifier };
});
let t1;
await check('a code is exchanged for tokens, with the member names of RFC 6749 and of the protocol', async () => {
  t1 = await redeem(app, first);
  equal([t1.token_type, t1.expires_in, t1.scope], ['bearer', 900, offline]);
  equal([t1.accessToken, t1.refreshToken, t1.expiresIn], [t1.access_token, t1.refresh_token, 900]);
});
await check('the access token is accepted for its scope', () => alive(t1.access_token));
let t2;
await check('a refresh token is exchanged for a new one', async () => {
  t2 = await refresh(app, t1.refresh_token);
  assert(t2.refresh_token && t2.refresh_token !== t1.refresh_token && t2.access_token !== t1.access_token, 'the same tokens again');
  await alive(t2.access_token);
});
await check('a retry of the exchange returns the same new refresh token', async () => {
  equal((await refresh(app, t1.refresh_token)).refresh_token, t2.refresh_token);
});
const t3 = await refresh(app, t2.refresh_token);
await check('a later reuse of a refresh token revokes all refresh tokens of the grant', async () => {
  await refused(refresh(app, t1.refresh_token), is('invalid_grant'));
  await refused(refresh(app, t3.refresh_token), is('invalid_grant'));
});
await check('and all access tokens of the grant', async () => {
  for (const t of [t1, t2, t3]) await dead(t.access_token);
});

let reader;
await check('without offline_access there is no refresh token', async () => {
  reader = await tokens(app, online);
  equal([reader.refresh_token, reader.scope], [undefined, online]);
});
await check('a missing scope is answered 403 with the name of the scope', async () => {
  const err = await refused(use(reader.access_token, 'POST', new URL(`${issuer}/signers/challenge`)), (e) => e.status === 403);
  const { scheme, parameters } = err.cause[0];
  equal([scheme, parameters.error, parameters.scope], ['bearer', 'insufficient_scope', 'signer:create']);
});
const replayed = await code(app, offline);
const t4 = await redeem(app, replayed);
await alive(t4.access_token);
await check('a code is accepted once', () => refused(redeem(app, replayed), is('invalid_grant')));
await check('a reused code revokes its tokens', async () => {
  await dead(t4.access_token);
  await refused(refresh(app, t4.refresh_token), is('invalid_grant'));
});
const burnt = await code(app, online);
await check('another verifier is refused', () =>
  refused(redeem(app, { ...burnt, verifier: oauth.generateRandomCodeVerifier() }), is('invalid_grant')));
await check('and invalidates the code', () => refused(redeem(app, burnt), is('invalid_grant')));

await check('a revoked access token is refused at once, and other tokens are not', async () => {
  const t = await tokens(app, offline);
  await revoke(app, t.access_token);
  await dead(t.access_token);
  await alive((await refresh(app, t.refresh_token)).access_token);
});
await check('a revoked refresh token ends the grant', async () => {
  const t = await tokens(app, offline);
  await revoke(app, t.refresh_token);
  await dead(t.access_token);
  await refused(refresh(app, t.refresh_token), is('invalid_grant'));
});
await check('revoking an unknown token is answered 200', async () => {
  for (const token of ['dat_unknown', 'x'.repeat(500), reader.access_token.slice(0, -1)]) await revoke(app, token);
  await alive(reader.access_token);
});
await check('one app cannot revoke the token of another', async () => {
  await revoke(server, reader.access_token);
  await alive(reader.access_token);
});
let served;
await check('a confidential app gets tokens with its secret and can introspect them', async () => {
  served = await tokens(server, offline);
  const seen = await look(server, served.access_token);
  equal([seen.active, seen.client_id, seen.scope, seen.iss, seen.sub], [true, server.id.client_id, offline, issuer, served.denpaId]);
  equal(seen.exp - seen.iat, 900, 'the life');
});
await check('introspection shows neither tokens of other apps nor revoked tokens', async () => {
  equal(await look(server, reader.access_token), { active: false });
  await revoke(server, served.refresh_token);
  equal(await look(server, served.access_token), { active: false });
});
await check('a wrong secret is answered 401 with a challenge', async () => {
  const wrong = { ...server, auth: oauth.ClientSecretBasic(secret.slice(0, -1) + (secret.endsWith('A') ? 'B' : 'A')) };
  const err = await refused(look(wrong, served.access_token), (e) => e.status === 401);
  equal(err.cause[0].scheme, 'basic');
});

await check('an unregistered redirect URI gets no redirect', async () => {
  for (const redirect_uri of ['https://evil.example/cb', app.redirect + '/', app.redirect + '?x=1', 'http://localhost:8421/callback']) {
    const a = await send('GET', (await ask(app, online, { redirect_uri })).url, { headers: { cookie: need('COOKIE') } });
    equal([a.status, a.headers.get('location')], [400, null], redirect_uri);
  }
});

// expectErrorRedirect checks that an authorization request is refused with a redirect that contains the error.
async function expectErrorRedirect(error, changes, headers = { cookie: need('COOKIE') }) {
  const a = await send('GET', (await ask(app, online, changes)).url, { headers });
  equal(a.status, 303, 'the status');
  const to = new URL(a.headers.get('location'));
  equal(to.origin + to.pathname, app.redirect, 'the address');
  await refused(Promise.resolve().then(() => oauth.validateAuthResponse(as, app.id, to, state)), (err) => err.error === error);
}
await check('PKCE with S256 is required', async () => {
  await expectErrorRedirect('invalid_request', { code_challenge: null, code_challenge_method: null });
  await expectErrorRedirect('invalid_request', { code_challenge_method: 'plain' });
});
await check('the implicit flow is not supported', () => expectErrorRedirect('unsupported_response_type', { response_type: 'token' }));
await check('a scope that does not exist is refused', () => expectErrorRedirect('invalid_scope', { scope: 'profile:read everything' }));
await check('with prompt=none the error states the required interaction', async () => {
  await expectErrorRedirect('consent_required', { prompt: 'none', scope: 'market:create' });
  await expectErrorRedirect('login_required', { prompt: 'none' }, {});
});
await check('a denial is reported as access_denied', async () => {
  const to = await decide((await ask(app, offline)).url, 'deny');
  await refused(Promise.resolve().then(() => oauth.validateAuthResponse(as, app.id, to, state)), (err) => err.error === 'access_denied');
});
await check('an answer with tokens must not be cached', async () => {
  const { parameters, verifier } = await code(app, online);
  const answer = await oauth.authorizationCodeGrantRequest(as, app.id, app.auth, parameters, app.redirect, verifier, plain);
  equal(answer.headers.get('cache-control'), 'no-store');
  await expectStatus(200, 'GET', me, { bearer: (await answer.json()).access_token });
});
