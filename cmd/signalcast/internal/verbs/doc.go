// Package verbs contains the commands that send requests to a hub or an api, such as login, call, market show and watch.
//
// Commands that only read public routes send no credential.
package verbs
