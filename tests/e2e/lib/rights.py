"""What an account may do, as the API server says it and as requests show it."""
from lib.bed import NS


# All that an account may do in a namespace, beyond what every account may.
def rights(bed, token, namespace):
    body = {"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectRulesReview", "spec": {"namespace": namespace}}
    review = lambda who: bed.must("POST", "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews", body,
                                  token=who)["status"]["resourceRules"]
    flat = lambda rules: {(f"{resource}.{group}".rstrip("."), verb) for rule in rules for group in rule["apiGroups"]
                          for resource in rule["resources"] for verb in rule["verbs"]}
    return flat(review(token)) - flat(review(bed.token("default")))


# The same of tables.
def named(*tables):
    return {(resource, verb) for table in tables for resource, verbs in table.items() for verb in verbs.split()}


# Tables of rights: everywhere, besides that in the release's namespace, and besides that in `default`.
def exact_rights(bed, name, token, everywhere, at_home, in_default=None):
    for namespace, more in ((NS, at_home), ("default", in_default or {})):
        wanted = named(everywhere, more)
        found = rights(bed, token, namespace)
        bed.check(f"rights of the {name} in {namespace}: {len(wanted)}, no more and no less", found == wanted,
                  f"missing {sorted(wanted - found)}, too many {sorted(found - wanted)}")


# Real requests; what the account may not is refused by RBAC and not by anything else.
def try_requests(bed, name, token, requests):
    for allowed, method, path, body in requests:
        if method == "PUT":  # of what is there
            body = bed.must("GET", path)
        code, answer = bed.ask(method, path, body, token)
        if allowed:
            bed.check(f"{name} may {method} {path}", code in (200, 201), f"{code}: {answer}")
        else:
            words = answer.get("message", "") if isinstance(answer, dict) else ""
            bed.check(f"{name} may not {method} {path}", code == 403 and "cannot" in words, f"{code}: {answer}")
