package scrub

import (
	"context"
	"errors"
	"slices"
	"strings"
)

// tags is the kind of Containers that holds the tags of images, each as name=id. A tag is what the next run trusts: a job
// can give any content the name node:20. Contents stay, as a cache.
const tags = "tags"

// kept is the repository of the names under which contents stay whose tags go. Such a name says what it stands for, its
// id, and the engine takes layers that it has from there.
const kept = "remuda-kept"

func keptName(id string) string { return kept + ":" + strings.TrimPrefix(id, "sha256:") }

// listTags returns every tag of an image.
func listTags(ctx context.Context) ([]string, error) {
	all, err := ask(ctx, "image", "ls", "--no-trunc", "--format", "{{.Repository}}:{{.Tag}}={{.ID}}")
	return slices.DeleteFunc(all, func(tag string) bool {
		name, id, _ := strings.Cut(tag, "=")
		return strings.Contains(name, "<none>") || name == keptName(id)
	}), err
}

// restoreTags restores the tags of the baseline, and removes new tags. If a job removed an image (docker system prune does), the image
// stays removed. The next job pulls it again, as on a new machine.
func restoreTags(ctx context.Context, was, now []string) error {
	var errs []error
	var gone []string
	for _, tag := range without(now, was) {
		name, id, _ := strings.Cut(tag, "=")
		_, err := ask(ctx, "image", "tag", id, keptName(id))
		errs = append(errs, err)
		if !slices.ContainsFunc(was, func(known string) bool { return strings.HasPrefix(known, name+"=") }) {
			gone = append(gone, name)
		}
	}
	for _, tag := range without(was, now) {
		name, id, _ := strings.Cut(tag, "=")
		_, err := ask(ctx, "image", "tag", id, name)
		if err == nil {
			continue
		}
		if _, lost := ask(ctx, "image", "inspect", "--format", "{{.Id}}", id); lost == nil {
			errs = append(errs, err)
		} else if slices.ContainsFunc(now, func(known string) bool { return strings.HasPrefix(known, name+"=") }) {
			gone = append(gone, name) // a job removed the image and gave its name to another image
		}
	}
	if len(gone) > 0 { // last: none of the machine's may lose its only name
		_, err := ask(ctx, append([]string{"image", "rm", "--no-prune"}, gone...)...)
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
