package machinelog

import (
	"slices"
	"strings"
	"testing"
)

func TestMask_H43(t *testing.T) {
	b64 := strings.Repeat("QUJDREVGR0g+/", 6)
	for name, tt := range map[string]struct{ text, want string }{
		"Plain":         {"state=running elapsed_seconds=2.5 tokens: 7", "state=running elapsed_seconds=2.5 tokens: 7"},
		"Classic":       {"x ghp_0123456789abcdefghijABCDEFGHIJ456789 y", "x *** y"},
		"Installation":  {"ghs_1234567_eyJhbGciOi.JSUzI1NiJ9.abc-def_0", "***"},
		"FineGrained":   {"t=github_pat_11ABCDEFG0123456789_abcdefghijkl", "t=***"},
		"JIT":           {"ACTIONS_RUNNER_INPUT_JITCONFIG=eyIucnVubmVyIjoi" + b64 + " --once", "ACTIONS_RUNNER_INPUT_JITCONFIG=*** --once"},
		"JITInNetJSON":  {`{"jit":"eyIucnVubmVyIjoi\u002BABCDEFGH"}`, `{"jit":"***"}`},
		"Registration":  {"--token AABF3JGZDX3P5PMEXLND6TS6FCWO6 --url u", "--token *** --url u"},
		"KeyID":         {"id AKIAIOSFODNN7EXAMPLE, ASIAIOSFODNN7EXAMPLE", "id ***, ***"},
		"SecretKey":     {`"SecretAccessKey" : "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",`, `"SecretAccessKey" : "***",`},
		"SessionToken":  {"AWS_SESSION_TOKEN=IQoJb3JpZ2luX2VjEJr//////////wEaCXVz", "AWS_SESSION_TOKEN=***"},
		"Authorization": {"> Authorization: AWS4-HMAC-SHA256 Credential=a/b, Signature=0abc\nnext", "> Authorization:***\nnext"},
		"Bearer":        {"sent bearer abcdefghijklmnop.qrst", "sent bearer ***"},
		"Signed":        {"GET https://x.blob/p?sv=1&sig=ab%2Bcd&se=2", "GET https://x.blob/p?sv=1&sig=***&se=2"},
		"UserInfo":      {"clone https://bot:hunter2@git.example/r", "clone https://bot:***@git.example/r"},
		"PrivateKey":    {"-----BEGIN RSA PRIVATE KEY-----\n" + b64 + "\n-----END RSA PRIVATE KEY-----\nnext", "***\nnext"},
		"KeyWithoutEnd": {"a\n-----BEGIN PRIVATE KEY-----\n" + b64, "a\n***"},
		"KeyWithoutTop": {b64 + "\n" + b64 + "\n-----END PRIVATE KEY-----\nnext", "***\nnext"},
		"InJSONInJSON":  {`{"msg":"{\\"token\\":\\"abcdefgh12345\\"}"}`, `{"msg":"{\\"token\\":\\"***"}"}`},
		"Words":         {`password="correct horse battery", next`, `password="***", next`},
		"Flag":          {"login --password hunter2hunter2 --once", "login --password *** --once"},
		"APIKey":        {"API_KEY=0123456789", "API_KEY=***"},
		"TokenInURL":    {"clone https://0123456789abcdef0123@git.example/r", "clone https://***@git.example/r"},
		"InURL":         {"q?token%3DAABF3JGZDX3P5PMEXLND6TS6FCWO6&x", "q?token%3D***&x"},
		"InAName":       {"TOKEN_AABF3JGZDX3P5PMEXLND6TS6FCWO6_", "TOKEN_***_"},
		"PrefixedKey":   {"10-11 -----BEGIN PRIVATE KEY-----\n10-11 " + b64 + "\n10-11 -----END PRIVATE KEY-----\nnext", "10-11 ***\nnext"},
		"PrefixedEnd":   {"start\n10-11 " + b64 + "\n10-11 QUJD\n10-11 -----END PRIVATE KEY-----\nnext", "start\n***\nnext"},
		"KnownEncoded":  {"b3BlbiBzZXNhbWU= open+sesame", "***= ***"},
		"Known":         {"the word is open sesame, sesame", "the word is ***, sesame"},
		"KnownButShort": {"abc", "abc"},
	} {
		t.Run(name, func(t *testing.T) {
			got := Mask(tt.text, "open sesame", "abc", "")
			if got != tt.want {
				t.Errorf("Mask(%q) = %q, want %q", tt.text, got, tt.want)
			}
			if again := Mask(got, "open sesame"); again != got && name != "Authorization" {
				t.Errorf("Mask of it = %q", again)
			}
			if len(got) > len(tt.text) {
				t.Errorf("it grew")
			}
		})
	}
}

// A secret that is known is masked however a program breaks it into lines.
func TestMask_KnownInLines_H43(t *testing.T) {
	secret := strings.Repeat("0123456789abcdefghijklmnopqrstuv", 20)
	for _, columns := range []int{64, 76} {
		var lines []string
		for line := range slices.Chunk([]byte(secret), columns) {
			lines = append(lines, string(line))
		}
		if got := Mask(strings.Join(lines, "\n"), secret); strings.Contains(got, secret[:columns/2]) {
			t.Errorf("in lines of %d: %q", columns, got)
		}
	}
}

// A command or a name shows a secret, and so does a word that no person chose.
func TestMask_ByStructure_ReviewB28(t *testing.T) {
	const aws = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
	for name, tt := range map[string]struct{ text, want string }{
		"DockerLogin":       {"+ docker login -u bot -p s3same ghcr.io", "+ docker login -u bot -p *** ghcr.io"},
		"DockerLoginJoined": {"docker login -ps3same ghcr.io", "docker login -p*** ghcr.io"},
		"DockerLoginEquals": {"podman login --password=s3same ghcr.io", "podman login --password=*** ghcr.io"},
		"DockerLoginQuoted": {"+ docker login --password 'open sesame' ghcr.io", "+ docker login --password *** ghcr.io"},
		"DockerLoginLines":  {"docker login -u bot \\\n  -p s3same ghcr.io", "docker login -u bot \\\n  -p *** ghcr.io"},
		"DockerLoginStdin":  {"docker login -u bot --password-stdin ghcr.io", "docker login -u bot --password-stdin ghcr.io"},
		"DockerConfig":      {`{"auths":{"ghcr.io":{"auth": "Ym90OnM="}}}`, `{"auths":{"ghcr.io":{"auth": "***"}}}`},
		"Piped":             {"echo s3same | docker login -u bot --password-stdin", "echo *** | docker login -u bot --password-stdin"},
		"PipedTraced":       {"+ echo s3same\n+ docker login -u bot --password-stdin", "+ echo ***\n+ docker login -u bot --password-stdin"},
		"PipedTracedLate":   {"++ gh auth login --with-token\n++ printf %s s3same", "++ gh auth login --with-token\n++ printf %s ***"},
		"HereString":        {"docker login --password-stdin <<< s3same", "docker login --password-stdin <<< ***"},
		"Sudo":              {"echo s3same | sudo -S apt-get update", "echo *** | sudo -S apt-get update"},
		"SudoFlags":         {"echo s3same | sudo -u postgres -p '' -Sk psql", "echo *** | sudo -u postgres -p '' -Sk psql"},
		"SudoPrompt":        {"echo s3same | sudo -E -Sp '' x", "echo *** | sudo -E -Sp '' x"},
		"SudoOfACommand":    {"+ echo done now\n+ sudo -E -u bot curl -sS https://x/y", "+ echo done now\n+ sudo -E -u bot curl -sS https://x/y"},
		"OpenSSLKey":        {"openssl enc -K 00112233445566778899aabbccddeeff -iv 0 -in a", "openssl enc -K *** -iv 0 -in a"},
		"ConfigureFlags":    {"npm config set --location=user //r.example/:_authToken s4same", "npm config set --location=user //r.example/:_authToken ***"},
		"ConfigureShort":    {"npm set //r.example/:_authToken s3same; dotnet user-secrets set Db:Password s4same; conda config --set x_token s5same", "npm set //r.example/:_authToken ***; dotnet user-secrets set Db:Password ***; conda config --set x_token ***"},
		"CurlUnquoted":      {"[command]/usr/bin/curl https://h/x?a=1&b=2 -u bot:s3same", "[command]/usr/bin/curl https://h/x?a=1&b=2 -u bot:***"},
		"MySQLEscaped":      {"mysql -e select\\;1 2>&1 -ps3same", "mysql -e select\\;1 2>&1 -p***"},
		"MySQLStatement":    {"mysql -e 'select 1; select 2' -ps3same", "mysql -e 'select 1; select 2' -p***"},
		"SudoTraced":        {"+ echo done now\n+ sudo curl -sS https://x/y", "+ echo done now\n+ sudo curl -sS https://x/y"},
		"ChPasswd":          {"+ echo bot:s3same\n+ chpasswd", "+ echo ***\n+ chpasswd"},
		"OpenSSL":           {"openssl enc -d -aes256 -k s3same -in a; openssl rsa -passin pass:s4same -in b", "openssl enc -d -aes256 -k *** -in a; openssl rsa -passin pass:*** -in b"},
		"OpenSSLFile":       {"openssl rsa -passin file:/run/p -in b", "openssl rsa -passin file:/run/p -in b"},
		"Zip":               {"unzip -P s3same a.zip; 7z x -ps4same a.7z; unzip -p a.zip b", "unzip -P *** a.zip; 7z x -p*** a.7z; unzip -p a.zip b"},
		"Packages":          {"twine upload -u bot -p s3same x; dotnet nuget push a -k s4same; cargo login s5same", "twine upload -u bot -p *** x; dotnet nuget push a -k ***; cargo login ***"},
		"Configure":         {"aws configure set aws_secret_access_key s3same; npm config set //r.example/:_authToken s4same", "aws configure set aws_secret_access_key ***; npm config set //r.example/:_authToken ***"},
		"Python":            {"virtualenv -p python3 env; tokens set", "virtualenv -p python3 env; tokens set"},
		"MySQL":             {"mysql -h db -u root -ps3same app", "mysql -h db -u root -p*** app"},
		"MySQLPrompt":       {"mysqldump -h db -p app", "mysqldump -h db -p app"},
		"SSHPass":           {"sshpass -p s3same ssh h", "sshpass -p *** ssh h"},
		"RedisAndLDAP":      {"redis-cli -h x -a s3same ping; ldapsearch -D cn=x -w s4same", "redis-cli -h x -a *** ping; ldapsearch -D cn=x -w ***"},
		"Curl":              {"curl -fsSu bot:s3same https://x/y -o z", "curl -fsSu bot:*** https://x/y -o z"},
		"CurlLong":          {"curl --user 'bot:s3same' https://x/y", "curl --user 'bot:***' https://x/y"},
		"CurlPort":          {"curl -k https://host:8443/x --url http://h:80/", "curl -k https://host:8443/x --url http://h:80/"},
		"Header":            {"curl -H 'Authorization: Basic Ym90OnM=' x", "curl -H 'Authorization:***"},
		"PrivateToken":      {"curl -H 'PRIVATE-TOKEN: abc12' x", "curl -H 'PRIVATE-TOKEN: ***' x"},
		"Cookie":            {"< Set-Cookie: sid=12345678; Path=/", "< Set-Cookie:***"},
		"URL":               {"postgres://app:p@ss@db:5432/app", "postgres://app:***@db:5432/app"},
		"Netrc":             {"machine github.com login bot password s3same", "machine github.com login bot password ***"},
		"Npmrc":             {"//registry.npmjs.org/:_authToken=npm_0123456789abcdefghijklmnopqrstuvwxyz", "//registry.npmjs.org/:_authToken=***"},
		"Npm":               {"npm notice npm_0123456789abcdefghijklmnopqrstuvwxyz", "npm notice ***"},
		"Docker":            {"x dckr_pat_0123456789abcdefghijklmnopq y", "x *** y"},
		"GitLab":            {"x glpat-0123456789abcdefghij y", "x *** y"},
		"Slack":             {"x xoxb-0123456789-abcdefgh y", "x *** y"},
		"SlackHook":         {"POST https://hooks.slack.com/services/T0/B0/abcdefgh", "POST https://hooks.slack.com/services/***"},
		"Env":               {"+ DB_PASSWORD=pw1", "+ DB_PASSWORD=***"},
		"EnvShort":          {"+ export DB_PASS='a b c' PGPASSWORD=hunter2 DEPLOY_KEY=k1k2", "+ export DB_PASS='***' PGPASSWORD=*** DEPLOY_KEY=***"},
		"EnvRepeated":       {"+ TOKEN=abcdefgh1\n+ wget x/abcdefgh1/y", "+ TOKEN=***\n+ wget x/***/y"},
		"YAML":              {"db:\n  password: hunter2\n", "db:\n  password: ***\n"},
		"JSON":              {`{"password":"pw1","user":"bot"}`, `{"password":"***","user":"bot"}`},
		"SQL":               {"CREATE USER a IDENTIFIED BY 'pw1';", "CREATE USER a IDENTIFIED BY '***';"},
		"AWSSecret":         {"found " + aws + " in profile", "found *** in profile"},
		"Random":            {"key 7Fq2LxTz9WbRk4Vn8JcYpD3mHs", "key ***"},
		"RandomInPath":      {"GET /hook/7Fq2LxTz9WbRk4Vn8JcYpD3mHs/run", "GET /hook/***/run"},
	} {
		t.Run(name, func(t *testing.T) {
			got := Mask(tt.text)
			if got != tt.want {
				t.Errorf("Mask(%q) = %q, want %q", tt.text, got, tt.want)
			}
			if again := Mask(got); again != got {
				t.Errorf("Mask of it = %q", again)
			}
		})
	}
}

// People need these to find a fault.
func TestMask_WhatPeopleNeedStays_ReviewB28(t *testing.T) {
	for _, text := range []string{
		"HEAD is now at 5f50c0c1d2e3f4a5b6c7d8e9f0a1b2c3d4e5f6a7 Say why",
		"image tools@sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08 pulled",
		"integrity sha512-9aB3cD4eF5gH6iJ7kL8mN9oP0qR1sT2uV3wX4yZ5aB6cD7eF8gH9iJ0kL1mN2oP3qR4sT5uV6wX7yZ8aB9cD0w==",
		"host key SHA256:nThbg6kXUpJWGl7E1IGOCspRomTxdCARLviKw6E5SY8.",
		"github.com/spf13/cobra v1.8.0 h1:7aJaZx1B85qltLMc546zn58BxxfZdR/W22ej9CFoEf0=",
		"instance i-0123456789abcdef0 in subnet-0a1b2c3d4e5f67890, ami-0abcdef1234567890, lt-0123456789abcdef0",
		"request 6ba7b810-9dad-11d1-80b4-00c04fd430c8 and 6BA7B810-9DAD-11D1-80B4-00C04FD430C8",
		"arn:aws:iam::111122223333:role/RemudaStack-ControllerRole-EC2Access",
		"/opt/actions-runner/_diag/Worker_20260505-082200-utc.log",
		"/srv/runner/_work/Repo1/Repo1/node_modules/.bin/tsc-Build2Watch",
		"2026-05-05T08:22:00.123456789Z INF signal reported signal=UD_REG_OK token_kind=none tokens=7",
		"--- FAIL: TestBudget_BadRowIsDropped_Review_C2 (0.01s)",
		"TestAgent_H43H51_SecondRunAfterS14_Listener2Online",
		"token: expired; password: wrong; TOKEN=$TOKEN was not set? no: PASSWORD=false",
		"CACHE_KEY=linux-go-1.26 SSH_KEY=/root/.ssh/id_ed25519 PWD=/srv/runner OLDPWD=/root",
		"ssh -p 2222 host; docker run -p 8080:80 nginx; mkdir -p /srv/data",
		"curl -u https://x",
		"pip install twine && mkdir -p build; zip -r a.zip . && scp -P 2222 a.zip h:; 7z x a.7z | find . -print",
		"openssl version; curl -k https://h/x; redis-cli ping && ls -a dir",
		"failed to set secret key for bucket; set password policy first",
		"run script /etc/remuda/prepare.sh: exit status 1: E: Unable to locate package libfoo2",
	} {
		want := strings.ReplaceAll(text, "TOKEN=$TOKEN", "TOKEN=***")
		if got := Mask(text); got != want {
			t.Errorf("Mask(%q) = %q", text, got)
		}
	}
}

// The operator's patterns hide what no form knows, and cannot make a text longer or hide everything.
func TestPatterns_ReviewB28(t *testing.T) {
	p, err := ParsePatterns([]string{`ACME-\d+`, `z`})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := p.Mask("a ACME-12 z"), "a *** *"; got != want {
		t.Errorf("Mask = %q, want %q", got, want)
	}
	for _, bad := range []string{"(", "a*", `\*`, ".", "[^a]+", ""} {
		if _, err := ParsePatterns([]string{"x", bad}); err == nil || !strings.HasPrefix(err.Error(), "[1]: must be a regular expression") {
			t.Errorf("ParsePatterns(%q) = %v", bad, err)
		}
	}
}

// FuzzMask: no text makes Mask panic or grow, and Mask finds nothing in its own result.
func FuzzMask(f *testing.F) {
	for _, seed := range []string{
		"docker login -p s3same; curl -u a:bcd x", "TOKEN=abcdefgh1 x abcdefgh1", "AKIAIOSFODNN7EXAMPLE,ASIAIOSFODNN7EXAMPLE",
		"-----BEGIN PRIVATE KEY-----\nx", "authorization: x\n\x00\xff", "://a:b@c@d", "+ echo abc\n+ x --password-stdin", "password=password=\"'",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := Mask(text, "open sesame")
		if len(got) > len(text) {
			t.Errorf("Mask(%q) = %q: it grew", text, got)
		}
		if again := Mask(got, "open sesame"); again != got {
			t.Errorf("Mask(%q) = %q, and Mask of that %q", text, got, again)
		}
	})
}
