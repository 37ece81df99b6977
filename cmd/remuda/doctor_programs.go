package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/remuda-run/remuda/internal/awserr"
	"github.com/remuda-run/remuda/internal/bucket"
	"github.com/remuda-run/remuda/internal/config"
	"github.com/remuda-run/remuda/internal/finding"
)

// published says what the bucket has for machines, fetches what they fetch, as far as this shell can reach it, and compares
// the checksums.
func (o *doctorOptions) published(ctx context.Context, c config.Config) (out []finding.Finding) {
	if !c.OnEC2() {
		return nil
	}
	cfg, err := fleetAWS(ctx, c)
	if err != nil {
		return nil // credentials say so
	}
	if program, runner := fromRelease(c); program || runner {
		read, release, err := published(ctx, cfg, c)
		out = append(out, finding.Of("bucket", err, releaseText(c.EC2.Bucket, release),
			"machines can get neither program nor runner from the bucket: run `remuda init --publish`, or name them in ec2.binaryUrl and agent.runnerUrl"))
		if err != nil {
			return out
		}
		c = read
	}
	for _, arch := range c.ArchitecturesUsed() {
		for _, p := range []artifact{
			{"program", "ec2.binarySha256", arch, c.EC2.BinaryURL.For(arch), c.EC2.BinarySHA256.For(arch)},
			{"runner", "agent.runnerSha256", arch, c.Agent.RunnerURL.For(arch), c.Agent.RunnerSHA256.For(arch)},
		} {
			out = append(out, p.finding(ctx, cfg))
		}
	}
	return out
}

// releaseText names what is published.
func releaseText(name string, r bucket.Release) string {
	text := "s3://" + name + "/" + bucket.ReleaseKey + " has"
	for _, arch := range config.Architectures() {
		if a, ok := r.Program[arch]; ok {
			text += fmt.Sprintf(" program %s for %s,", a.Version, arch)
		}
		if a, ok := r.Runner[arch]; ok {
			text += fmt.Sprintf(" runner %s for %s,", a.Version, arch)
		}
	}
	return strings.TrimSuffix(text, ",")
}

// artifact is what machines of an architecture fetch.
type artifact struct{ check, setting, arch, url, sum string }

// finding fetches it.
func (a artifact) finding(ctx context.Context, cfg aws.Config) finding.Finding {
	if a.url == "" {
		return finding.Finding{Check: a.check, Verdict: finding.Skipped, Detail: "for " + a.arch + " it is part of the image"}
	}
	shown := shownURL(a.url)
	got, size, err := fetchSum(ctx, cfg, a.url)
	if awserr.ClassOf(err) == awserr.Denied && strings.HasPrefix(a.url, "s3://") {
		return finding.Finding{Check: a.check, Verdict: finding.Skipped, Detail: shown + ", for " + a.arch +
			", is not there, or for machines and `remuda init` alone: their console says if they cannot read it"}
	}
	if err == nil && !strings.EqualFold(got, a.sum) {
		err = fmt.Errorf("%s has SHA-256 %s, %s for %s is %s", shown, got, a.setting, a.arch, a.sum)
	}
	return finding.Of(a.check, err, fmt.Sprintf("%s, for %s: %.1f MB, SHA-256 as configured", shown, a.arch, float64(size)/1e6),
		"machines power off without it: put URL or checksum right, or publish it again")
}

// maxFetch bounds what is fetched, in bytes: the archive of a runner has 200 MB (agent/actionsrunner).
const maxFetch = 2 << 30

// fetchSum returns the SHA-256 of what a URL delivers, and how long that is in bytes.
func fetchSum(ctx context.Context, cfg aws.Config, url string) (sum string, size int64, err error) {
	var body io.ReadCloser
	if object, ok := strings.CutPrefix(url, "s3://"); ok {
		name, key, _ := strings.Cut(object, "/")
		body, err = bucket.Open(cfg, name).Read(ctx, key)
	} else {
		body, err = get(ctx, url)
	}
	if err != nil {
		return "", 0, err
	}
	defer func() { err = errors.Join(err, body.Close()) }()
	hash := sha256.New()
	size, err = io.Copy(hash, io.LimitReader(body, maxFetch))
	if err != nil {
		return "", 0, fmt.Errorf("fetch %s: %w", shownURL(url), err)
	}
	return hex.EncodeToString(hash.Sum(nil)), size, nil
}
