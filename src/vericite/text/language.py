"""Whether a text is in another language than English, told from its script and its function words."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

LANGUAGE = "language.v1"
"""Signature of the rules, for provenance; it changes whenever they would judge some text otherwise."""

_FEWEST_WORDS = 5
_FEWEST_IN_PHRASE = 4
_FEWEST_TELLING = 2
_FEWEST_LETTERS = 4

# By the beginning of the Unicode names of their letters. What is not here counts as Latin: symbols, units,
# mathematical letters.
_SCRIPTS = {
    "CYRILLIC": "Cyrillic",
    "CJK": "Chinese",
    "HIRAGANA": "Japanese",
    "KATAKANA": "Japanese",
    "HANGUL": "Korean",
    "ARABIC": "Arabic",
    "HEBREW": "Hebrew",
    "DEVANAGARI": "Devanagari",
    "BENGALI": "Bengali",
    "TAMIL": "Tamil",
    "TELUGU": "Telugu",
    "THAI": "Thai",
    "GREEK": "Greek",
    "ARMENIAN": "Armenian",
    "GEORGIAN": "Georgian",
    "ETHIOPIC": "Ethiopic",
    "GUJARATI": "Gujarati",
    "KANNADA": "Kannada",
    "MALAYALAM": "Malayalam",
    "MYANMAR": "Burmese",
    "KHMER": "Khmer",
    "LAO": "Lao",
    "SINHALA": "Sinhala",
    "GURMUKHI": "Gurmukhi",
    "TIBETAN": "Tibetan",
}
_LONGEST_GREEK_SYMBOL = 3  # "Δ", "αβ" and "γδε" are symbols; a longer run of Greek letters is a Greek word

# Function words. Those that several languages share vote for each of them.
_LANGUAGES = {
    "German": """und der das den dem ein eine einer eines einem einen mit bei für auf nicht wird
        werden wurde wurden ist sind oder durch auch sich nach aus zu zur zum als kann
        können haben hat vom wie wenn dass über bis zwischen diese dieser dieses sowie
        nur noch keine im vor unter gegen des die ohne mehr sehr ihre""",
    "French": """le la les des une est et dans pour par sur avec du au aux que qui ne pas plus
        sont cette ces ce chez entre ont été être ou l' d' qu' n' s' c' leur comme lors
        après elle ils peut peuvent mais sans sous dont ainsi son ses très fait""",
    "Spanish": """todos todas el la los las una del que en y con por para se es como más al lo su
        sus entre sobre fue fueron son esta este estos han ha puede pueden sin también
        desde pero muy cuando según hasta no ser está están o de un""",
    "Italian": """il lo gli della delle dei degli del nel nella nelle nei che è sono con una per
        di da dal dalla al alla alle ai si non più come tra anche questo questa questi
        dell' nell' l' un' all' dall' sull' ha hanno tutti tutte stato stati può possono
        ed e i le la un essere""",
    "Portuguese": """todos todas o os um uma da do das dos na nas nos em com para por que não é são
        ao à às pela pelo pelos mais como se entre foi foram ser também e sua seu suas
        seus pode podem esta este sobre após sem até já muito""",
    "Dutch": """de het een van en met voor niet zijn wordt worden werd werden door bij naar ook
        dat deze dit die aan op om te uit tot tussen over na zich kan kunnen heeft
        hebben als maar meer geen wel omdat er ze hun""",
    "Swedish": """och att det som en ett är av för med till på inte den har kan om från vid eller
        hos var vara mellan efter också så men de denna detta dessa blev blir skulle än
        utan sin sina där hade""",
    "Danish or Norwegian": """og at det som en et er af av for med til på ikke den har kan om fra ved eller
        hos var være mellom mellem etter efter også så men de denne dette disse blev ble
        bliver blir skal enn uten uden sin sine der hvor hadde havde jeg""",
    "Polish": """i w na z do się nie jest są oraz przez dla od po że jak u ze pod przy lub być
        może które który która został została zostały tego tym jego ich ma mają którzy
        bardzo także ale czy ten""",
    "Czech": """a v na se je s z do k že pro jsou nebo o po při od ve byl byla bylo byly u jako
        tak ale který kteří která které být za podle mezi této tento tato jeho jejich
        také není může mohou ze""",
    "Turkish": """ve bir bu ile için olarak olan da de daha çok en gibi kadar sonra arasında değil
        olduğu ise veya tarafından hastalarda edilmiştir etmektedir vardır üzerinde göre
        hem ancak her olup edildi yüksek""",
    "Romanian": """și şi în la cu pe din este sunt care o un de a pentru nu mai prin sau ale al ai
        fost fi după între ca se lor lui această acest aceste către poate pot dintre
        fără""",
    "Finnish": """ja on ei oli että se tai ovat myös kuin joka mutta sekä olla voi sen hänen ne
        niin kun jos mukaan välillä jälkeen tämä tämän ole olivat voidaan kanssa jotka
        hän vain""",
    "Hungarian": """a az és egy hogy nem is volt van meg el ez azt de mint vagy csak már még voltak
        ezek által között után lehet alatt esetén pedig amely ezt való több sem""",
    "Vietnamese": """và của là có được trong cho các những không với một người bệnh này đã để khi từ
        đến ở trên như bằng nhân thể hơn về tại vào nhiều hoặc do ra gây""",
    "Indonesian": """yang dan di dengan untuk pada dari dalam ini itu adalah tidak atau oleh karena
        dapat akan telah lebih sebagai juga antara secara terhadap tersebut pasien bahwa
        kepada lain penyakit bisa""",
}
_ENGLISH = frozenset(
    """the and of that with by from are were which these this have has had been between not or than after
    who but their be to can may is was in for as on at it an its we our into during both among there
    such while does could no more less most other when will should all also associated patients cells
    treatment""".split()
)
# Also in English text, as words ("die", "man"), names ("von Willebrand"), Latin ("de novo"), initials and
# symbols: these support a language but never make the case for it.
_AMBIGUOUS = frozenset(
    """a i e o s u k z w v y x in is was an am as at on no to do so me he we or of by be not all over
    under per had has may can die des de la le el del van von den der du al da di il et un una en es
    se si mi lo na son con sin par plus pro ma ha ne pot para dos das men man most war hat arm ten her
    for han ham fat us it its ai nu er om te ze ca cu hos lui mine sur sine fin ut fra min ben mai dem
    ed ce ou pod ile els fi var eller past main dan gel dal pe lor ve via ex post ad vs em co mg ml kg
    og till bis zu op dit meg ez sem ra tam""".split()
)
# For short texts without any English function word: there two of these say enough. Articles, prepositions and
# the few verbs that claims are made of; what is English as well is left out.
_SHORT = {
    "German": """
        senken erhöhen dauert dauern stärkt lindert hemmt fördert heilt bei bleibt braucht haben meist viele
        und der das den dem des die ein eine einer eines einem einen mit bei für auf nicht wird werden wurde
        ist sind oder durch auch sich nach aus zu zur zum kann können haben vom von wie wenn dass über bis zwischen
        nur keine kein im vor unter gegen ohne mehr sehr als es am beim gut weniger häufig oft gibt führt senkt
        verursacht verbessert verhindert schützt erhöht hilft wirkt dient""",
    "Dutch": """
        verlagen verhogen duurt daalt stijgt versterkt helpen geneest remt ongeveer veel zonder
        de het een van en met voor niet zijn wordt worden werd bij naar ook dat deze dit aan op te uit tot
        tussen na kan kunnen heeft hebben als maar meer geen wel tegen minder vaak veel goed door verlaagt verhoogt
        veroorzaakt vermindert verbetert beschermt voorkomt helpt leidt werkt""",
    "French": """
        abaissent réduisent dure dépend guérit soigne renforce aide environ beaucoup n'est
        le la les des une un est et dans pour par sur avec du au aux que qui ne pas de en sont cette ces ce
        chez entre ou l' d' qu' n' s' c' comme elle il peut peuvent mais sans sous son ses très moins à réduit
        augmente diminue améliore provoque prévient protège abaisse aggrave traite""",
    "Spanish": """
        baja bajan dura sirve sirven cura trata fortalece empeora alivia contra unos unas los
        el la los las una un del que en y con por para se es al lo su sus entre sobre son esta este ha
        puede pueden sin también desde pero muy más no ser está están de o menos aumenta disminuye mejora previene
        protege provoca causan reducen ayuda""",
    "Italian": """
        abbassa abbassano dura cura cura tratta rinforza protegge peggiora circa contro molto
        il lo gli la le i un uno una della delle dei degli del dello nel nella nelle nei che è sono con di
        da dal dalla al alla alle ai non più tra anche questo questa dell' nell' l' un' all' dall' sull' d' ha può
        possono per e il si in riduce riducono aumenta migliora previene protegge provoca causano meno""",
    "Portuguese": """
        baixa baixam dura trata cura fortalece causa piora alivia contra cerca duas muito
        o os a as um uma da do das dos na nas no nos em com por para que não é são ao à às pela pelo mais
        se ser também e seu sua pode podem esta este sobre sem de menos reduz reduzem aumenta melhora previne
        protege provoca causam diminui""",
}
# English words that the relatives share: they tell nothing, neither for the one nor for the other.
_SHARED = {
    ("German", "Dutch"): "in is was die an also so am as on do die war hat",
    (
        "French",
        "Spanish",
        "Italian",
        "Portuguese",
    ): "in no do as on des per a i patients con plus par pour son sin non un",
}
_ENGLISH_TOO = frozenset(
    """i no on do so use used using you your they them she he his her if because how what why where about only over
    under up out any some each per versus vs via did does cause causes reduces increase increases all with
    risk disease study trial between without against""".split()
)
# Parts of names ("de la Tourette", "van der Woude") where a capital follows.
_PARTICLES = frozenset("de la le van von da du di do dos des del el al los las te y zu e d' l'".split())
_AFTER_VAN = frozenset("der den dem de het t".split())
_LATIN = frozenset("novo facto se alii vivo vitro situ utero".split())
_TOKEN = re.compile(r"(?<![\w./'’+-])[^\W\d_]+(?:['’](?=[^\W\d_]{2})|(?!['’\w+-]|[./]\w))|[^\w\s]|\w[^\s,;()]*")
_ACCENTED = re.compile("[à-öø-ÿœ]")
_WORD = re.compile(r"[^\W\d_]+['’]?")


@lru_cache(maxsize=4096)
def _script(letter: str) -> str | None:
    """The script of a letter, None if it is Latin or a symbol."""
    name = unicodedata.name(letter, "")
    return _SCRIPTS.get(name.split(" ", 1)[0].split("-", 1)[0])


def _vocabulary() -> dict[str, frozenset[str]]:
    return {name: frozenset(words.split()) for name, words in _LANGUAGES.items()}


_VOCABULARY = _vocabulary()
_PHRASES = {name: frozenset(words.split()) for name, words in _SHORT.items()}


def foreign_reason(text: str) -> str | None:
    """Why a text seems to be in another language than English, or None if it does not.

    The reason is a phrase: "written in a script other than Latin: Cyrillic", "looks like German". Built so
    that English is hardly ever flagged: fewer than four words in Latin letters never are, nor are names of
    species and drugs or Greek letters. Languages in Latin script are told by their function words, so a
    heading or a list of terms goes unflagged, and a near relative may be named instead of the language.
    """
    text = unicodedata.normalize("NFC", text)
    return _foreign_script(text) or _foreign_words(text) or _foreign_phrase(text)


def _foreign_script(text: str) -> str | None:
    counts: dict[str, int] = {}
    letters = 0
    for word in _WORD.findall(text):
        letters += len(word)
        scripts = [_script(letter) for letter in word]
        if scripts.count("Greek") <= _LONGEST_GREEK_SYMBOL:
            scripts = [None if script == "Greek" else script for script in scripts]
        for script in scripts:
            if script:
                counts[script] = counts.get(script, 0) + 1
    foreign = sum(counts.values())
    if foreign < _FEWEST_LETTERS or 2 * foreign <= letters:
        return None
    if counts.get("Japanese", 0) > 1:
        return "written in a script other than Latin: Japanese"  # most of its letters may be Chinese ones
    return f"written in a script other than Latin: {max(counts, key=lambda script: counts[script])}"


def _foreign_words(text: str) -> str | None:
    words = [word.lower().replace("’", "'") for word in _WORD.findall(text)]
    words = [word if word.rstrip("'") == word or len(word) <= 5 else word.rstrip("'") for word in words]
    if len(words) < _FEWEST_WORDS:
        return None
    english = sum(word in _ENGLISH for word in words)
    accented = min(2, len({word for word in words if not word.isascii()}))
    best, votes, certain = "", 0, False
    for name, vocabulary in _VOCABULARY.items():
        hits = [word for word in words if word in vocabulary]
        telling = len({word for word in hits if word not in _AMBIGUOUS})
        found = len(hits) + telling
        if telling and found > votes:
            best, votes = name, found
            certain = telling + accented > 2 or telling > 1 or (len(hits) > 3 and not english)
    enough = certain and votes + accented >= max(4, len(words) // 5)
    return f"looks like {best}" if enough and votes > 2 * english else None


def _foreign_phrase(text: str) -> str | None:
    """The same for short texts, where two telling words are enough if there is no English one.

    An accented word counts as one of the two. An English word that the relatives have too counts for neither side.
    """
    written = _WORD.findall(text)
    if len(written) < _FEWEST_IN_PHRASE:
        return None
    words = {word.lower().replace("’", "'") for word in written}
    accented = any(word.islower() and _ACCENTED.search(word) for word in written if word != "naïve")
    found = _telling(text)
    best, most = "", (0, 0)
    for relatives, shared in _SHARED.items():
        neutral = frozenset(shared.split())
        english = (_ENGLISH | _ENGLISH_TOO) - neutral
        known = frozenset[str]().union(*(_PHRASES[name] for name in relatives)) - english - neutral
        hits = sum(word in known for word in found)
        if not hits or hits + accented < _FEWEST_TELLING or words & english:
            continue
        for name in relatives:
            votes = (hits, sum(word in _PHRASES[name] for word in found))
            best, most = (name, votes) if votes > most else (best, most)
    return f"looks like {best}" if best else None


def _telling(text: str) -> list[str]:
    """The words that may tell a language: small ones, no parts of names, no Latin ("de novo", "et al")."""
    tokens = [match[0].replace("’", "'") for match in _TOKEN.finditer(text)]
    found: list[str] = []
    name = False  # a capitalised name follows
    for index in range(len(tokens) - 1, -1, -1):
        token, previous = tokens[index], tokens[index - 1] if index else "."
        following = tokens[index + 1] if index + 1 < len(tokens) else ""
        lower = token.lower()
        opens = previous in ".!?:"
        particle = lower in _PARTICLES or (lower in _AFTER_VAN and previous.lower() in ("van", "von"))
        if particle and not opens and (name or following.lower() in _LATIN):
            continue
        name = token[:1].isupper() and token[1:].islower()
        if token.islower() or (opens and token[:1].isupper() and (token[1:].islower() or len(token) <= 2)):
            if following.lower() not in _LATIN and not (lower == "al" and previous.lower() == "et"):
                found.append(lower)
    return found
