"""What a text mentions without asserting it: reported, supposed, asked, planned and denied claims.

"It has been hypothesised that X", "some people claim that X", "we tested whether X", "there is no evidence that X" and
"Myth: X" all contain X, and none of them is evidence for it. "We showed that X" and "it is known that X" are. The
rules look for the grammar of a report: a verb, noun or adjective that does not commit its speaker, the clause that it
governs, and words that revoke it ("the hypothesis that X was confirmed").
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from vericite.records import Span
from vericite.text.language import foreign_reason, letter_script
from vericite.text.quotable import speaks_of_answers
from vericite.text.sentences import split_sentences

ASSERTIONS = "assertions.v3"
"""Signature of the rules; changes whenever they would mark other parts of some text."""

OMITTED = "..."
"""Replaces a part that is not asserted."""


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE)


# Verbs that do not commit any speaker.
_SUPPOSE = (
    r"(?:hypothesi[sz]|postulat|speculat|theori[sz]|conjectur|assum|suppos|presum|surmis|fear|hop|expect|predict|"
    r"anticipat|guess|imagin|pretend|wonder|wish|rumou?r|alleg|fantasi[sz]|envisag)(?:e|es|ed|s|ing)?"
)
# Verbs that commit only the authors.
_HOLD = (
    r"(?:claim(?:s|ed|ing)?|assert(?:s|ed|ing)?|argu(?:e|es|ed|ing)|contend(?:s|ed|ing)?|insist(?:s|ed|ing)?|"
    r"maintain(?:s|ed|ing)?|believ(?:e|es|ed|ing)|think(?:s|ing)?|thought|propos(?:e|es|ed|ing)|posit(?:s|ed|ing)?|"
    r"opin(?:e|es|ed|ing)|suspect(?:s|ed|ing)?|promis(?:e|es|ed|ing)|boast(?:s|ed|ing)?|advertis(?:e|es|ed|ing)|"
    r"declar(?:e|es|ed|ing)|swear|swears|swore|vow(?:s|ed)?|announc(?:e|es|ed|ing)|suggest(?:s|ed|ing)?(?= to (?:us|"
    r"me)))"
)
_PLAIN_HOLD = r"(?:believe[sd]?|think|thinks|thought|claim|claims|claimed|insist|insists|insisted|swear|swears|swore)"
"""Verbs that do not need "that"."""
# People who are not the authors, and whose words are not findings.
_LAY = (
    r"(?:people|persons?|patients?|parents?|mothers?|participants?|respondents?|interviewees?|students?|pupils?|users?|"
    r"consumers?|customers?|readers?|laypeople|laypersons?|members of the public|the public|posts|tweets?|blogs?|"
    r"bloggers?|websites?|web ?sites?|leaflets?|brochures?|adverts?|advertisements?|advertising|commercials?|"
    r"headlines?|newspapers?|tabloids?|magazines?|the media|social media|videos?|influencers?|celebrit(?:y|ies)|"
    r"critics?|sceptics?|skeptics?|proponents?|advocates?|supporters?|opponents?|enthusiasts?|campaigners?|"
    r"manufacturers?|the company|companies|vendors?|sellers?|retailers?|marketers?|promoters?|healers?|"
    r"folklore|legends?|tradition|rumou?rs?|neighbou?rs?|relatives?|friends?|villagers?|politicians?|activists?|"
    r"lobbyists?|commentators?|observers|witness(?:es)?|plaintiffs?|lawyers?|chatbots?|characters?|protagonists?)"
)
# "Some say", "40% of them believe"; but not "some studies say" or "our group and others say".
_SOME = (
    r"(?<!\band )(?:some|others|many|most|several|few|half|a third|a quarter|\d+ ?%|\d+ per ?cent)"
    r"(?: of (?:them|us|those|these|all|the \w+|our \w+))?"
    r"(?: (?:who|still|also|even|now|have|had|may|might|would|will|do|did|\w+ly))*"
)
_SPEAK = (
    r"(?:say|says|said|saying|state|states|stated|tell|tells|told|write|writes|wrote|feel|feels|felt|agree|agrees|"
    r"agreed|hold|holds|held|repeat|repeats|repeated|suggest|suggests|suggested|answer|answers|answered|feared|"
    r"report that they believe|voiced|expressed|circulated?|spread|shared?|post|posts|posted)"
)
_NOTION = (
    r"(?:hypothes[ie]s|claims?|notions?|ideas?|beliefs?|myths?|assumptions?|theor(?:y|ies)|allegations?|rumou?rs?|"
    r"suggestions?|possibilit(?:y|ies)|questions?|proposals?|speculations?|views?|misconceptions?|assertions?|"
    r"concerns?|expectations?|predictions?|hopes?|conjectures?|opinions?|propositions?|suspicions?|fears?|premises?|"
    r"stor(?:y|ies)|legends?|folklore|doubts?|promises?|statements?|impressions?|perceptions?|contentions?|arguments?|"
    r"likelihood|probability|chances?|odds|thought|working model|dogma|superstitions?|falsehoods?|lies?|hoax(?:es)?)"
)
_EVIDENCE = r"(?:evidence|proof|indications?|support|data|signs?|reason|grounds|basis|confirmation|justification)"
_ASK = (
    r"(?:test|tests|tested|testing|determin\w+|assess\w*|evaluat\w+|investigat\w+|examin\w+|explor\w+|stud(?:y|ies|ied|"
    r"ying)|establish\w*|ascertain\w*|find out|clarif\w+|verif\w+|confirm|answer\w*|ask|asks|asked|asking|see|learn|"
    r"know|knows|knew|knowing|tell|check\w*|decid\w+|elucidat\w+|analy[sz]\w+|query|queried|debat\w+|discuss\w*|"
    r"consider\w*|"
    r"understand|predict|judge|wonder\w*|doubt\w*|unclear|unknown|uncertain|unsure|undecided)"
)
_SHOW = (
    r"(?:show|shows|shown|showed|prove|proves|proved|proven|demonstrat\w+|establish\w*|confirm\w*|find|found|"
    r"conclud\w+|"
    r"verif\w+|replicat\w+|reproduc\w+|document\w*|indicat\w+|suggest\w*|impl(?:y|ies|ied)|mean|means|meant|report\w*|"
    r"observ\w+|say|says|said|stat(?:e|es|ed)|claim\w*|know|known|clear|certain|evident|true|the case|believ\w+|"
    r"support\w*|convinced|persuaded|assum\w+|think)"
)
_FOUND = r"(?:show|find|found|demonstrat|reveal|report|conclu|indicat|suggest|confirm|observ|establish|prove)\w*"
_NOT = (
    r"(?:not|never|cannot|can't|didn't|doesn't|don't|isn't|wasn't|nor|neither|hardly|scarcely|unable to|fail(?:s|ed|"
    r"ing)? "
    r"to|failure to|yet to|remains? to|without|far from|too early to|premature to|impossible to)"
)
_AIM = (
    r"(?:aim(?:s|ed|ing)?|objectives?|purpose|goal|intention|designed|planned|plans?|intend(?:s|ed|ing)?|sought|seeks?|"
    r"attempt(?:s|ed|ing)?|tried|trying|hop(?:es|ed|ing)|want(?:s|ed)?|wish(?:es|ed)?|in order|so as|undertaken|"
    r"conducted|performed|carried out|set out|set up|powered|recruited|enrolled|registered|funded|commissioned|"
    r"needed|required|necessary|will|would|expected|meant|supposed|effort|asked|challenged|invited|urged)"
)
_THAT = r"(?:that|whether|if)\b"
_COMPLEMENT = (
    r"(?!\s+(?:was|were|is|are|had|has|have|can|could|may|might|will|would|did|do|does|describe[sd]?|\w+ed)\b)"
)
"""After a noun: "the idea that zinc works", not "the idea that was tested"."""

# What governs the following clause: it is reported, supposed, asked about or planned.
_AHEAD = _any(
    rf"\b{_SUPPOSE}\s+(?:\w+ly\s+)?that\b",
    rf"(?<!\bwe )(?<!\bwe therefore )(?<!\bwe thus )(?<!\bauthors )\b{_HOLD}\s+(?:\w+ly\s+)?that\b",
    rf"\b(?:{_LAY})\b(?!['’])[^.;:,]{{0,30}}?\b(?:{_SPEAK}|{_HOLD})\s+(?:\w+ly\s+)?(?:us\s+|them\s+)?(?:that\b|:)",
    rf"\b(?:{_LAY})\b(?!['’]|[^.;:,]{{0,12}}\bwho\b)[^.;:,]{{0,20}}?\b(?:{_PLAIN_HOLD})\b",
    rf"\b{_SOME}\s+(?:(?:say|says|said|tell|told|write|wrote|feel|felt|hold|held|repeat|feared|{_HOLD})\s+(?:\w+ly\s+)?"
    rf"(?:us\s+|them\s+)?(?:that\b|:)|{_PLAIN_HOLD}\b)",
    r"\b(?:falsely|wrongly|mistakenly|erroneously|incorrectly|misleadingly|baselessly)\s+\w+(?:\s+\w+)?\s+(?:that\b|"
    r"as\b)?",
    rf"\b(?:it|this) (?:is|was|has been|had been|will be|may be|might be|could be|can be) (?:\w+ )?(?:said|told|"
    rf"written|"
    rf"rumou?red|proposed|suggested|held|conceivable|possible|plausible|imaginable|tempting to \w+|{_SUPPOSE}|"
    rf"{_HOLD})\s+(?:\w+ )?that\b",
    rf"\b{_NOTION}\s+(?:(?!{_FOUND}\b)\w+\s+){{0,2}}?(?:that\b{_COMPLEMENT}|(?:whether|if)\b)",
    rf"\b(?:search\w*|looked|looking|look|sought|seeking|hunt\w*|quest|request\w*|asked|call\w*|need\w*|"
    rf"screened|queried)\s+(?:[\w-]+\s+){{0,8}}?(?:for\s+)?(?:\w+\s+){{0,3}}(?:{_EVIDENCE}|trials?|studies|reports?|"
    r"articles?|papers?|records?)\s+(?:\w+\s+){0,2}?(?:that|to (?:show|support|suggest|prove)(?: that)?|(?:show|"
    r"suggest|"
    r"support|demonstrat|prov|indicat|claim|stat)ing(?:\s+that)?)\b",
    rf"\b{_ASK}\s+(?:\w+\s+){{0,4}}?(?:whether|if)\b|"
    # Not "in all patients, whether treated early or late".
    r"\bwhether\b(?!\s+(?:expressed|measured|assessed|treated|defined|analy[sz]ed|administered|adjusted|used|taken|"
    r"given|alone|in|by|on|at|or|as|with|young|old)\b)",
    rf"\b{_AIM}\b[^.;]{{0,60}}?\b(?:{_SHOW}|{_ASK})\s+(?:\w+\s+)?that\b",
    rf"^(?:\w+:\s*)?to\s+(?:\w+ly\s+)?(?:{_SHOW}|{_ASK})\s+(?:\w+\s+)?{_THAT}",
    r"\b(?:suppose|imagine|assuming|supposing|pretend|let us say|say|granted)\s+(?:\w+\s+)?that\b|"
    r"\b(?:suppose|imagine|assume)\s(?!that)|\b(?:as if|as though)\b",
    r"\b(?:says|say|said)\s(?!to be\b|that\b|so\b)(?=\w)",
    # A condition that is not met yet. What holds "if taken early" is asserted with its condition.
    r"^(?:\w+:\s*)?(?:if|were|should|unless|only if|provided that)\s(?=[^.;]{0,300}\b(?:would|could|might|may|will|"
    r"should|must)\b)",
    rf"\b(?!predict|expect|anticipat|hop){_SUPPOSE}\s(?!that\b|by\b|in\b|as\b)(?=(?:[\w-]+\s+){{1,6}}to\s+\w+)|"
    r"\b(?:believ(?:e|es|ed|ing)|thought|think)\s(?!that\b)(?=(?:[\w-]+\s+){1,6}to\s+\w+)",
    rf"\b(?:{_LAY}|{_SOME})\b(?!['’])[^.;:,]{{0,40}}?\b(?:{_SPEAK}|{_HOLD})\b(?:(?!{_FOUND})[^.;:]){{0,40}}:",
    r"\b(?:asked|asking|wondered|enquired|inquired|question(?:s|ed)?)\b[^.;]{0,30}[:,]\s*[\"“'‘]",
)
# A clause with "that" is asserted if its governing words say that it was found, not that it may be.
_FINDING = re.compile(
    r"\b(?:show|shows|showed|shown|showing|find|finds|finding|findings|found|demonstrat\w+|reveal\w*|report|reports|"
    r"reported|reporting|conclud\w+|conclusion|indicat\w+|suggest|suggests|suggested|suggesting|confirm\w*|"
    r"corroborat\w+|"
    r"observ\w+|establish\w*|prove|proves|proved|proven|proving|proof|document\w*|know|known|knowledge|recogni[sz]\w+|"
    r"evidence|evident|clear|clearly|plain|fact|results?|note|notes|noted|notable|noteworthy|noticed|discover\w*|"
    r"determined|"
    r"estimate[sd]?|calculated|illustrat\w+|highlight\w*|underscor\w+|underlin\w+|emphasi[sz]\w+|support\w*|"
    r"substantiat\w+|verified|ascertained|see|saw|seen|mean|means|meaning|implies|imply|implying|ensur\w+|because|"
    r"given|"
    r"accepted|acknowledg\w+|agree|agreed|agreement|consensus|appears?|appeared|seems?|likely|remarkabl\w+|"
    r"surpris\w+|important\w*|"
    r"striking\w*|interesting\w*|consistent|aware|convinc\w+|certain|obvious|true|undisputed|undeniable|understood|"
    r"recommend\w*|stress|infer\w*|identified|detected|warn\w*|possibly|provided|realis\w+|realiz\w+|learned|learnt|"
    r"we learn|signal\w*|point out|"
    r"points out|"
    r"pointed out|"
    r"supporting|strengthen\w*|attest\w*|testif\w+|reaffirm\w*|affirm\w*|validat\w+|advantage|disadvantage|limitation|"
    r"strength|message|difference|ensure|advise[sd]?|caution\w*|"
    r"(?:we|the authors|i)(?: \w+)? (?:determine|believe|think|argue|contend|maintain|assert|propose|posit|estimate|"
    r"hold))\b",
    re.IGNORECASE,
)
_LINKED = re.compile(
    r"\b(?:such|so|now|in|except|than|to|of|as|with|and|or|from|for|by|like|only|all|those|considering|seeing)\s+$",
    re.IGNORECASE,
)
_WEAKENED = re.compile(
    r"\b(?:request\w*|sought|seek\w*|need\w*|requir\w*|wanted|search\w*|asked|looked|looking|reject\w*|refut\w*|"
    r"dismiss\w*|"
    r"overstat\w*|exaggerat\w*|misread\w*|pretend\w*|aims?|aimed|hop(?:e|es|ed|ing)|goal|purpose|objective|by heart|"
    r"await\w*|pending|suggest\w* to|dream\w*|fail\w*|insufficient|lack\w*|missing|no longer believ\w*)\b",
    re.IGNORECASE,
)
_LATER = re.compile(
    r"(?<!\bwe )(?<!\bit )\b(?:may|might|could|would|will|should|must|shall|going to)\s+(?:\w+\s+){0,4}?(?:show|prove|"
    r"demonstrate|confirm|establish|reveal|find|conclude|verify|substantiate|validate|discover)\b",
    re.IGNORECASE,
)
_CLAUSE_THAT = re.compile(rf"\bthat\b(?!\s+(?:of|in|for|with|from|by|at|on|to|which)\b){_COMPLEMENT}", re.IGNORECASE)
# Words that a clause with "that" completes. After other words it is a relative clause: "a factor that binds calcium".
_COMPLETED = re.compile(
    rf"\b(?:{_SUPPOSE}|{_HOLD}|{_NOTION}|tell|tells|told|write|writes|wrote|feel|feels|felt|repeat|"
    r"repeats|repeated|heard|hears|read|reads|has it|have it|preach\w*|tweet\w*|teach\w*|taught|testif\w+|"
    r"testimony|convinced|convictions?|convince\w*|persuade\w*|faith|feeling|gospel|slogan|motto|creed|intuition|"
    r"prejudice|prophe\w+|accus\w+|complain\w*|insinuat\w*|proclaim\w*|profess\w*|whisper\w*|gossip\w*|brag\w*|jok\w+|"
    r"repeating|overstate[sd]?|exaggerate[sd]?|pretend\w*|thesis|learn|learns|accept|rave|raves|raved|defend\w*|"
    r"determine|demand\w*|"
    rf"(?:tell|tells|told|telling|assure[sd]?|remind\w*|taught|teach\w*)\s+(?:\w+\s+){{0,2}}\w+|"
    rf"{_HOLD}\s+(?:for|in|at|on|with|to)\s+\w+(?:\s+\w+)?|"
    r"dream\w*|pray\w*|bet|bets|hunch|adamant|confident|optimistic|sure|afraid|remember\w*|recit\w+|conced\w+|admit\w*|"
    r"wording|words|sentence|phrase|text|news|message|us|them|me|people|everyone|everybody|anyone|nobody|reader|"
    r"readers|"
    r"is|was|are|were|be|it)[\s,:*\"“'‘]*$",
    re.IGNORECASE,
)
# As the first, but the clause is denied or unknown.
_DENIED_AHEAD = _any(
    rf"\b(?:no|none|nothing|nobody|no one|neither|few|not one|hardly any|"
    rf"not any)\b(?!-)[^.;,]{{0,60}}\b{_SHOW}\s+(?:\w+\s+)?{_THAT}",
    rf"\b(?:no|little|insufficient|limited|inadequate|scant|scarce|weak|conflicting|inconclusive|anecdotal|any|more|"
    rf"further|lack(?:s|ed|ing)?(?: of)?|absence of|dearth of|without)\s+(?:\w+\s+){{0,3}}?{_EVIDENCE}\s+"
    r"(?:\w+\s+){0,2}?(?:that|to (?:suggest|show|support|indicate|prove|conclude|believe|say|think|demonstrate)"
    r"(?:\s+that)?)\b",
    rf"\b{_EVIDENCE}\s+that\b(?=[^.;]{{0,200}}\b(?:is|are|was|were|remains?|(?:has|have|had) been)\s+(?:\w+\s+){{0,2}}"
    r"(?:lacking|absent|sought|weak|limited|inconclusive|insufficient|missing|unavailable|searched|not|scarce|needed|"
    r"awaited|looked|requested|low)\b)",
    rf"\b{_NOT}\s+(?:\w+\s+){{0,4}}?{_SHOW}\s+(?:\w+\s+)?{_THAT}",
    rf"\b(?:unclear|unknown|uncertain|unproven|unproved|untrue|false|incorrect|wrong|doubtful|unlikely|questionable|"
    rf"debatable|disputed|contested|controversial|nonsense|implausible|impossible|undetermined|a myth|a mistake|"
    rf"a fallacy|an error|unsure|sceptical|skeptical|undecided)\s+(?:\w+\s+){{0,3}}?{_THAT}",
    r"\b(?:refut|reject|disprov|debunk|challeng|contradict|disput|deny|denie|doubt|question|rebut|oppos|dismiss|"
    r"overturn|abandon|retract|withdr[ae]w)\w*\s+(?:\w+\s+){0,3}?that\b",
)
# Words about the clause that contains them, on either side.
_AROUND = _any(
    rf"(?<!\bwho )\b(?:is|are|was|were|be|been|being)\s+(?:\w+\s+){{0,2}}?(?:said|reputed|purported|advertised|"
    rf"promoted|marketed|"
    rf"touted|rumou?red|{_SUPPOSE}|(?!maintain|declar|announc|argu|insist){_HOLD})\s+(?:\w+ly\s+)?(?:to\b|as\b)",
    r"\bpurports?\s+to\b|\bclaim(?:s|ed)\s+to\b|\b(?:allegedly|supposedly|purportedly|reputedly|ostensibly|reportedly|"
    r"hypothetically|theoretically(?!\s+(?:based|grounded|driven|informed))|presumably|conceivably)\b",
    rf"\baccording to (?:the |an? |one |some |its |their |his |her |popular |folk |local |many |most )*(?:\w+ )?"
    rf"{_LAY}\b(?!['’-]|[ -](?:reports?|diar|records|reported|outcomes?|data|ratings?|questionnaires?|surveys?))",
    r"\bin (?:the |an? |this |that |our )(?:\w+ )?(?:story|novel|film|movie|vignette|scenario|game|play|tale|"
    r"fairy tale|"
    r"advert|advertisement|commercial|cartoon|comic|parody|satire|thought experiment)\b",
    r"\b(?:is|are|was|were|remains?|be|being)\s+(?:only |merely |just |still |largely |entirely |simply |yet |so far |"
    r"considered |now |widely |often |, however, )*(?:an? |the |one )?(?:\w+ )?(?:myth|speculation|hypothes[ie]s|"
    r"conjecture|misconception|hoax|rumou?r|untrue|unproven|unproved|unfounded|unsubstantiated|hypothetical|"
    r"speculative|"
    r"guess|unsupported|debunked|fiction|fabricated|fallacy|superstition|urban legend|old wives' tale|pure fantasy|"
    r"disproved|disproven|refuted|untested|not true|a lie|false claim|misinformation|fake)\b",
    rf",\s+(?:the |an? |its |their |some |one |so )*(?:\w+ ){{0,2}}?{_LAY}\s+(?:\w+ )?(?:{_SPEAK}|{_HOLD})\b",
    rf",\s+(?:it (?:is|was|has been) (?:\w+ )?(?:{_SUPPOSE}|{_HOLD}|said)|or so|as (?:some|many|the \w+|people) "
    rf"(?:\w+ )?(?:{_HOLD}|{_SPEAK}))\s*(?:[.,;]|$)",
    r"(?<!\bthat )(?<!\bwhich )(?<!\bwho )\bwould\b(?=[^.;]{0,200}\bif\b)|\bif\b(?=[^.;]{0,200}\bwould\b)|"
    r"\bif\b[^.;]{0,120}\bwere (?:true|confirmed|proven|shown)\b",
    r"\b(?:in theory|on paper|in principle)\b",
    r"\b(?:under|(?<!based )on|by|per)\s+(?:the|this|that|our|their|one|an?)\s+(?:\w+\s+){0,2}(?:hypothesis|"
    r"assumption|premise|"
    r"theory|"
    r"supposition|scenario)\b",
    r"\bin (?:the|this|that|our|an?|some)\s+(?:\w+\s+)?(?:imaginary|imagined|fictional|fictitious|hypothetical|"
    r"make-believe|invented)\s+\w+|\bin (?:an|the) ideal world\b|\bin (?:a|our|this|that) (?:perfect|parallel|"
    r"simulated) (?:world|universe)\b",
    r"\b(?:should|must|shall|will|needs? to|has to|have to|remains? to|waits? to|has yet to|have yet to)\s+(?:now |"
    r"also |"
    r"still |first |therefore )?(?:be )?(?:tested|confirmed|proven|proved|shown|established|verified|demonstrated|seen|"
    r"determined|examined|investigated)\b",
)
_ASIDE = re.compile(
    r"(?<=[,(;] )(?:supposedly|presumably|conceivably|theoretically|hypothetically|reportedly|possibly)\s", re.I
)
_DENIED_AROUND = _any(
    r"\b(?:could|can) ?not be (?:replicat|reproduc|confirm|substantiat|corroborat|verif|prove|establish|demonstrat|"
    r"shown)\w*\b"
    r"(?!\s+(?:\w+\s+)?that)|\b(?:has|have|had)(?: not|n't) (?:yet )?been (?:replicat|reproduc|confirm|substantiat|"
    r"corroborat|verif|prove|establish|demonstrat|shown)\w*\b(?!\s+(?:\w+\s+)?that)",
    r"\b(?:was|were|is|has been|have been) (?:later |since |subsequently |now )*(?:fabricated|disproved|disproven|"
    r"refuted|"
    r"debunked|falsified|overturned|contradicted by later)\b",
    # Not a drug that was withdrawn, or a graft that was rejected.
    r"\b(?:papers?|articles?|reports?|stud(?:y|ies)|trials?|hypothes[ie]s|theor(?:y|ies)|ideas?|findings?|results?|"
    r"statements?|notions?|views?|claims?|conclusions?|that)\b[^.;]{0,160}\b(?:was|were|is|has been|"
    r"have been) (?:later |since |"
    r"subsequently |now )*(?:retracted|withdrawn|rejected)\b",
)
# The label of a field without findings, at the beginning or after another field.
_LABEL = re.compile(
    r"(?:^|(?<=[.!?;|\n\]*])\s{0,4}|(?<=[.!?;|])\s)[\[(*#>\s]{0,4}(?:(?:null |alternative |working |research |study |"
    r"primary |main |key |clinical |our |the |test |original |user |final )?(?:hypothes[ie]s|aims?|objectives?|purpose|"
    r"goals?|questions?|claims?|verdict|statement|premise|myths?|rumou?r|fiction|proposition|assumption|scenario|"
    r"example|entailment|label|query|search terms?|search string|keywords?|misconception|popular belief|belief|"
    r"false|untrue|not true|fake|satire|plan|planned analysis|prediction|expectation|conjecture|quote|quotation|"
    r"slogan|headline|tweet|post|advert|advertisement|topic|prompt|answer|expected answer|to be tested|under review|"
    r"item \d+|q\d*|true or false|unverified|draft|template|rating|to (?:prove|test|show|check|verify|confirm|decide|"
    r"judge|be \w+)))(?: \d+| [a-d]| (?:to be|under|of|for|as|being|that|by|from) [^.;:=]{1,40}|"
    r" ?\([^()]{1,40}\))?[\])*]{0,3}\s{0,2}[:=—–](?!\d)\s?",
    re.IGNORECASE,
)
_SECTION = re.compile(
    r"(?:background|introduction|context|methods?|materials and methods|results?|findings?|main results|conclusions?|"
    r"interpretation|discussion|fact|facts|truth|reality|significance|design|setting|participants|patients|"
    r"observation|main outcome measures?|measurements|interventions?|expert (?:opinion|commentary)|key ?words)\s*:\s",
    re.IGNORECASE,
)
_NEGATIVE = re.compile(
    r"\b(?:no|not|never|neither|nor|none|without|cannot|lack(?:s|ed|ing)?|absence|fail(?:s|ed|ure)?|un(?:known|clear|"
    r"certain|proven|likely|able)|insufficient|limited|inconclusive)\b|n't\b",
    re.IGNORECASE,
)
_VERDICT = _any(r"\b(?:verdict|label|entailment|judge?ment|rating)\s*[:=]\s*\S", r"\b(?:is|as) entailed\b")

# Words that revoke a report: then nothing in its sentence is left out because of it.
_AFFIRMING = _any(
    r"\b(?:support|confirm|corroborat|validat|strengthen|substantiat|underscor|reinforc|prov)(?:s|es|ed|ing|e)?\s+"
    rf"(?:\w+\s+){{0,4}}?{_NOTION}\s+{_THAT}",
    rf"\b(?:consistent with|in line with|in favou?r of|in keeping with|in accordance with|in agreement with|"
    rf"evidence for|"
    rf"evidence in support of|support for|support to|credence to|weight to|proof of|"
    rf"confirmation of)\s+(?:\w+\s+){{0,3}}?"
    rf"{_NOTION}\s+{_THAT}",
    r"\b(?:is|are|was|were|has been|have been|has now been|been)\s+(?:now |since |thus |therefore |later |then |"
    r"indeed |"
    r"strongly |fully |clearly |repeatedly |subsequently |finally |again |today |amply |firmly |well )*(?:confirmed|"
    r"proven|"
    r"proved|established|borne out|upheld|validated|corroborated|verified|substantiated|supported|vindicated|correct|"
    r"right|"
    r"justified|settled|true)\b",
    r"\b(?:proved|turned out|proven|appeared|found|shown|seems?|known)\s+(?:to be\s+)?(?:\w+\s+)?(?:true|correct|"
    r"right|so|"
    r"justified|well founded|the case)\b",
    r"\b(?:found|showed|concluded|confirmed|saw|established|learned)\s+(?:that\s+)?(?:it|this|they|he|she|"
    r"so)\s+(?:does|did|"
    r"do|was|is|were|are|had|has)\b",
    r",?\s(?:and|which|indeed|that)\s+(?:it|this|they|that|indeed|the answer|the trial|the study)?\s?(?:indeed |"
    r"clearly )?"
    r"(?:did|does|do|was|is|were|had)(?: so| the case| yes| positive)?\s*[.;,:]",
    r"\bthe answer (?:is|was) (?:yes|positive|affirmative)\b|[:;—–]\s*(?:yes|it did|it does|they did|they do|indeed)\b",
    r"\bthis (?:was|is|proved) (?:indeed )?(?:the case|so|true)\b",
)
_UNDONE = re.compile(
    rf"\b(?:{_NOT}|no|only if|once|until|if|unless|to be|could be|may be|can be|should be|must be|would be|will be)\s"
    r"(?:\w+\s+){0,3}$",
    re.IGNORECASE,
)
# Reports that are reversed, or that only look like reports.
_COMMITTED = _any(
    r"\b(?:no|little|without|beyond|not|cannot|hardly|undisputed|few|nobody|no one|none|longer|n't)\b[^.;,]{0,30}\b(?:"
    r"doubts?|doubted|den(?:y|ied)|disputed?|questions?|questioned|contested?|controversy)\b[^.;,]{0,20}\bthat\b",
    r"\bas (?:we |was |had been |they |others )?(?:hypothesi[sz]ed|expected|predicted|anticipated|assumed|supposed)\b",
    r"\bnot only\b",
    r"\b(?:regardless of|irrespective of|no matter|independent of|independently of|whatever)\s+whether\b|"
    r"\bwhether or not\b",
    r"\bno longer (?:\w+ ){0,3}(?:hypothes|assum|suppos|speculat|a (?:myth|theory))\w*",
)
_CHOICE = re.compile(
    r"\((?:yes|true|agree|right|y|t|support\w*|entail\w*)\s?(?:/|or|,|\|)\s?(?:no|false|disagree|wrong|n|f|not|neutral|"
    r"contradict\w*)\b[^()]{0,30}\)",
    re.IGNORECASE,
)
_END = re.compile(
    r"[.!?](?=[\s\"”)]+[A-Z\"“(\[]|[\"”)\s]*$)|;|,?\s{1,4}(?:but|yet|however|nevertheless|whereas|although|though)\b|"
    r",\s{1,4}(?:and|so|then|thus|thereby|while)\s(?!that\b)|\s(?:and|then)\s+(?:we|they|it|this|found|show\w*|"
    r"observ\w*|"
    r"conclud\w*|demonstrat\w*|confirm\w*|the (?:results?|data|trial|study))\b|:\s|\s[—–]\s",
    re.IGNORECASE,
)
_CLAUSE_HEAD = re.compile(_END.pattern + r"|,\s{1,4}(?:which|as)\s", re.IGNORECASE)
_COLON = re.compile(r"\s?[:\uff1a]\s?(?=[^\W\d_]{2})")
_FOREIGN_WORDS = re.compile(
    r"\b(?:bitte|und|als|por favor|marque|como|veuillez|que|si prega|che|di|por|il|est|es|ist|der|das|el|la|le|les|"
    r"una|une|"
    r"eine?|och|att|prosz[eę]|l\u00fctfen)\b",
    re.IGNORECASE,
)
_ENGLISH_WORDS = re.compile(
    r"\b(?:the|of|and|in|to|was|were|is|are|with|for|by|who|as|at|from|than|an?)\b", re.IGNORECASE
)
_SPEECH = re.compile(
    rf"\b(?:{_HOLD}|(?!predict|expect|anticipat){_SUPPOSE}|{_NOTION}|says?|said|saying|tells?|told|writes?|wrote|"
    rf"repeat\w*|recit\w+|echo\w*|chant\w*|"
    r"agrees?|pretend\w*|wordings?|words|sentences?|phrases?|slogans?|mottos?|headlines?|verbatim|captions?|messages?|"
    r"according to)\b",
    re.IGNORECASE,
)
"""Words before a colon that announce someone's speech, rather than head a list."""
_INITIAL_END = re.compile(
    r",\s+(?=(?:we|our|this|these|those|here|the|a|an|in|data|all|\d[\d,]*|[A-Z][\w-]+|\w+ (?:patients|participants|"
    r"adults|"
    r"children|women|men|mice|rats|people|volunteers|infants|studies|trials))\s|(?:[\w-]+ ){1,4}(?:was|were|is|are|"
    r"received|had|has|"
    r"shortened|reduced|increased|lowered|improved|raised|\w+ed)\s)"
)
_QUOTED = re.compile(
    r"(?<!\w)[\"“](?=\w)([^\"“”]{12,400})(?<=[\w.!?,;…])[\"”](?!\w)|(?<!\w)['‘]([^'‘’\"]{12,400})['’](?!\w)"
)
_CLAUSE = 600
"""Maximum characters of a clause."""
_GOVERNED = 60
"""Characters before a clause to search for what governs it."""
_INITIAL = 25
"""Characters before an operator at the beginning of a sentence: "In order to test whether ..."."""


def is_qualified(claim: str) -> bool:
    """Whether a claim itself only reports, supposes, asks or denies, so that such a source may support it."""
    return bool(unasserted(claim))


def denies(claim: str) -> bool:
    """Whether a claim says that something is not so, or not known."""
    return _NEGATIVE.search(claim) is not None


@lru_cache(maxsize=4096)
def asserted_part(text: str, denials: bool = True) -> str:
    """Replace each part that a text does not assert with ``...``; empty if nothing substantial is left.

    Without ``denials``, denied parts stay: they may support a claim that denies something.
    """
    spans = unasserted(text, denials)
    if not spans:
        return text
    kept: list[str] = []
    end = 0
    for span in spans:
        kept += [text[end : span.start], OMITTED]
        end = span.end
    left = "".join([*kept, text[end:]])
    words = re.findall(r"[^\W\d_]{2,}", left)
    return " ".join(left.split()) if len(words) > 1 else ""


def unasserted(text: str, denials: bool = True) -> tuple[Span, ...]:
    """Return the parts that a text only reports, supposes, asks, plans or denies, in order, without overlaps."""
    found: list[tuple[int, int]] = []
    for sentence in split_sentences(text):
        written = text[sentence.slice]
        found += [(sentence.start + start, sentence.start + end) for start, end in _within(written, denials)]
    return tuple(Span(start=start, end=end) for start, end in _merged(found))


def _within(sentence: str, denials: bool) -> list[tuple[int, int]]:
    if _VERDICT.search(sentence) or speaks_of_answers(sentence):
        return [(0, len(sentence))]
    found = [*_questions(sentence), *_labelled(sentence), *_quotations(sentence), *_announced(sentence)]
    if not _taken_back(sentence):
        found += [*_governed(sentence, denials), *_surrounded(sentence, denials)]
    return [(start, end) for start, end in found if sentence[start:end].strip(" .,;:")]


def _taken_back(sentence: str) -> bool:
    for match in _AFFIRMING.finditer(sentence):
        if not _UNDONE.search(sentence[: match.start()][-60:]) and not re.match(r"(?:to|not)\b", match[0]):
            before = sentence[max(0, match.start() - 12) : match.start()].lower()
            if not before.endswith((" to ", "not ", "never ")) and not sentence.lower().startswith("to "):
                return True
    return False


def _questions(sentence: str) -> Iterator[tuple[int, int]]:
    if sentence.rstrip("\"”’')] ").endswith("?") or _CHOICE.search(sentence):
        heading = _SECTION.match(sentence)
        yield (heading.end() if heading else 0, len(sentence))


def _labelled(sentence: str) -> Iterator[tuple[int, int]]:
    for match in _LABEL.finditer(sentence):
        following = _SECTION.search(sentence, match.end())
        yield match.end(), following.start() if following else len(sentence)


def _announced(sentence: str) -> Iterator[tuple[int, int]]:
    """Yield speech after a colon: "Lo dice la abuela: zinc cures colds". A list after a colon is asserted."""
    colon = _COLON.search(sentence)
    if colon is None or _SECTION.match(sentence):
        return
    before = sentence[: colon.start()]
    if (_is_foreign(before) or _SPEECH.search(before)) and not _FINDING.search(before):
        yield colon.end(), len(sentence)


def _is_foreign(words: str) -> bool:
    if foreign_reason(words) is not None or any(letter_script(char) not in (None, "Greek") for char in words):
        return True
    return _FOREIGN_WORDS.search(words) is not None and _ENGLISH_WORDS.search(words) is None


def _quotations(sentence: str) -> Iterator[tuple[int, int]]:
    """Yield quoted clauses: someone else's words, not the author's."""
    for match in _QUOTED.finditer(sentence):
        if len(match[0].split()) > 3:
            yield match.start(), match.end()


def _governed(sentence: str, denials: bool) -> Iterator[tuple[int, int]]:
    for match in _reports(sentence, _AHEAD, _DENIED_AHEAD if denials else None):
        yield match.end(), _end(sentence, match.start(), match.end())
    for match in _reports(sentence, _CLAUSE_THAT):
        governing = sentence[_start(sentence, match.start()) : match.start()]
        if _is_reported(governing):
            yield match.end(), _end(sentence, match.start(), match.end())


def _is_reported(governing: str) -> bool:
    """Whether the words before "that" say what someone believes, or what is still to be found."""
    found = _FINDING.search(governing[-_GOVERNED:]) or _LINKED.search(governing)
    completed = _COMPLETED.search(governing)
    weakened = _LATER.search(governing) or _WEAKENED.search(governing)
    return bool(weakened and (found or completed)) or (not found and completed is not None)


def _surrounded(sentence: str, denials: bool) -> Iterator[tuple[int, int]]:
    for match in _reports(sentence, _AROUND, _DENIED_AROUND if denials else None):
        # "Zinc works, presumably because it binds viruses": only the reason is supposed.
        start = match.start() if _ASIDE.match(sentence, match.start()) else _start(sentence, match.start())
        yield start, _end(sentence, _INITIAL + 1, match.end())


def _reports(sentence: str, *forms: re.Pattern[str] | None) -> Iterator[re.Match[str]]:
    committed = [match.span() for match in _COMMITTED.finditer(sentence)]
    for form in filter(None, forms):
        for match in form.finditer(sentence):
            if not any(start < match.end() and match.start() < end for start, end in committed):
                yield match


def _start(sentence: str, end: int) -> int:
    """Return the start of the clause, at most the length of a clause back."""
    first = max(0, end - _CLAUSE)
    return max((boundary.end() for boundary in _CLAUSE_HEAD.finditer(sentence, first, end)), default=first)


def _end(sentence: str, start: int, end: int) -> int:
    boundary = _END.search(sentence, end, end + _CLAUSE)
    last = boundary.start() if boundary else len(sentence)
    if start <= _INITIAL and (comma := _INITIAL_END.search(sentence, end, min(last, end + _CLAUSE))):
        last = comma.start()
    return last


def _merged(spans: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    current: tuple[int, int] | None = None
    for start, end in sorted(spans):
        if current and start <= current[1]:
            current = (current[0], max(current[1], end))
            continue
        if current:
            yield current
        current = (start, end)
    if current:
        yield current
