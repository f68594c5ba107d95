from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vericite.text.language import LANGUAGE, foreign_reason

LATIN = {
    "German": [
        "Aspirin senkt das Risiko für einen Schlaganfall bei Patienten mit Vorhofflimmern nicht.",
        "Die Behandlung mit Statinen wurde von allen Teilnehmern gut vertragen.",
        "Es gibt keine Hinweise, dass das Medikament die Sterblichkeit erhöht.",
    ],
    "French": [
        "L'aspirine réduit le risque d'accident vasculaire cérébral chez les patients âgés.",
        "Les statines ont été bien tolérées par tous les participants de l'essai.",
        "Aucune différence n'a été observée entre les deux groupes de patients.",
    ],
    "Spanish": [
        "La aspirina reduce el riesgo de ictus en los pacientes con fibrilación auricular.",
        "Las estatinas fueron bien toleradas por todos los participantes del ensayo.",
        "No se observaron diferencias entre los dos grupos de pacientes.",
    ],
    "Italian": [
        "L'aspirina riduce il rischio di ictus nei pazienti con fibrillazione atriale.",
        "Le statine sono state ben tollerate da tutti i partecipanti allo studio.",
        "Non è stata osservata alcuna differenza tra i due gruppi di pazienti.",
    ],
    "Portuguese": [
        "A aspirina reduz o risco de acidente vascular cerebral nos doentes com fibrilhação auricular.",
        "As estatinas foram bem toleradas por todos os participantes do ensaio.",
        "Não foram observadas diferenças entre os dois grupos de doentes.",
    ],
    "Dutch": [
        "Aspirine verlaagt het risico op een beroerte bij patiënten met boezemfibrilleren.",
        "De statines werden door alle deelnemers aan het onderzoek goed verdragen.",
        "Er is geen verschil gevonden tussen de twee groepen patiënten.",
    ],
    "Swedish": [
        "Acetylsalicylsyra minskar risken för stroke hos patienter som har förmaksflimmer.",
        "Statinerna tolererades väl av alla som deltog i studien och inga dödsfall inträffade.",
        "Det fanns inte någon skillnad mellan de två grupperna av patienter.",
    ],
    "Danish or Norwegian": [
        "Acetylsalicylsyre nedsætter risikoen for apopleksi hos patienter, som har atrieflimren.",
        "Statinerna ble godt tolerert av alle som deltok i studien, og det var ingen dødsfall.",
        "Der var ikke nogen forskel mellem de to grupper af patienter.",
    ],
    "Polish": [
        "Aspiryna zmniejsza ryzyko udaru mózgu u pacjentów, którzy mają migotanie przedsionków.",
        "Statyny były dobrze tolerowane przez wszystkich uczestników i nie stwierdzono zgonów.",
        "Nie ma różnicy między grupami, ale leczenie jest bardzo drogie.",
    ],
    "Czech": [
        "Aspirin snižuje riziko mrtvice u pacientů, kteří mají fibrilaci síní, a je levný.",
        "Statiny byly dobře snášeny a při léčbě nebyl zjištěn rozdíl mezi skupinami.",
        "Tato léčba není vhodná pro pacienty, u kterých je riziko krvácení.",
    ],
    "Turkish": [
        "Aspirin, atriyal fibrilasyonu olan hastalarda inme riskini azaltan bir ilaç olarak kullanılır.",
        "Statinler tüm katılımcılar tarafından iyi tolere edildi ve ölüm olmadı.",
        "Bu tedavi daha pahalı ancak iki grup arasında fark yok.",
    ],
    "Romanian": [
        "Aspirina reduce riscul de accident vascular cerebral la pacienții care au fibrilație și diabet.",
        "Statinele au fost bine tolerate de către toți participanții la studiu.",
        "Nu există diferențe între cele două grupuri, dar tratamentul este mai scump.",
    ],
    "Finnish": [
        "Aspiriini vähentää aivohalvauksen riskiä potilailla, joilla on eteisvärinä, mutta se ei ole halpa.",
        "Statiinit olivat hyvin siedettyjä ja kuolemia ei ollut.",
        "Ryhmien välillä ei ollut eroa, kun hoito oli sama.",
    ],
    "Hungarian": [
        "Az aszpirin csökkenti a stroke kockázatát a pitvarfibrilláló betegek között, de nem olcsó.",
        "A sztatinokat minden résztvevő jól tolerálta, és nem volt haláleset.",
        "Nincs különbség a két csoport között, mert a kezelés is azonos volt.",
    ],
    "Vietnamese": [
        "Aspirin làm giảm nguy cơ đột quỵ ở các bệnh nhân bị rung nhĩ.",
        "Không có sự khác biệt giữa hai nhóm bệnh nhân được điều trị với thuốc này.",
    ],
    "Indonesian": [
        "Aspirin dapat menurunkan risiko stroke pada pasien dengan fibrilasi atrium.",
        "Tidak ada perbedaan yang bermakna antara dua kelompok pasien dalam penelitian ini.",
    ],
}
# Short claims; the rules have been adjusted on them, so what is told of new ones will be less.
SHORT_CLAIMS = {
    "German": [
        "Aspirin senkt das Risiko eines Schlaganfalls.",
        "Statine senken den Cholesterinspiegel im Blut.",
        "Rauchen erhöht die Gefahr für Lungenkrebs.",
        "Metformin wird bei Diabetes verordnet.",
        "Die Impfung schützt vor Masern.",
        "Eine Grippe dauert meist zwei Wochen.",
        "Der Blutdruck sinkt unter Ramipril.",
        "Vitamin D stärkt die Knochen von Kindern.",
        "Antibiotika helfen nicht gegen Viren.",
        "Das Medikament ist gut verträglich und wirksam.",
        "Kaffee verlängert das Leben.",
        "Insulin regelt den Zucker im Blut.",
        "Die Therapie verkürzt den Krankenhausaufenthalt.",
        "Zink verkürzt eine Erkältung um einen Tag.",
        "Masken verringern die Übertragung von Viren.",
    ],
    "French": [
        "L'aspirine réduit le risque d'AVC.",
        "Les statines abaissent le cholestérol sanguin.",
        "Le tabac provoque le cancer du poumon.",
        "La metformine traite le diabète de type 2.",
        "Le vaccin protège contre la rougeole.",
        "Une grippe dure environ deux semaines.",
        "Le ramipril fait baisser la tension.",
        "La vitamine D renforce les os.",
        "Les antibiotiques n'agissent pas sur les virus.",
        "Ce médicament est bien toléré et efficace.",
        "Le café allonge la vie.",
        "L'insuline règle le sucre sanguin.",
        "La thérapie raccourcit le séjour à l'hôpital.",
        "Le zinc écourte un rhume d'un jour.",
        "Les masques limitent la transmission des virus.",
    ],
    "Spanish": [
        "La aspirina reduce el riesgo de ictus en pacientes.",
        "Las estatinas bajan el colesterol en sangre.",
        "El tabaco provoca cáncer de pulmón.",
        "La metformina trata la diabetes tipo 2.",
        "La vacuna protege contra el sarampión.",
        "Una gripe dura unas dos semanas.",
        "El ramipril baja la tensión arterial.",
        "La vitamina D fortalece los huesos.",
        "Los antibióticos no sirven contra los virus.",
        "Este fármaco es eficaz y seguro.",
        "El café alarga la vida.",
        "La insulina regula el azúcar en sangre.",
        "La terapia acorta la estancia hospitalaria.",
        "El zinc acorta el resfriado un día.",
        "Las mascarillas limitan la transmisión del virus.",
    ],
    "Italian": [
        "L'aspirina riduce il rischio di ictus.",
        "Le statine abbassano il colesterolo nel sangue.",
        "Il fumo provoca il tumore del polmone.",
        "La metformina cura il diabete di tipo 2.",
        "Il vaccino protegge dal morbillo.",
        "Un'influenza dura circa due settimane.",
        "Il ramipril abbassa la pressione arteriosa.",
        "La vitamina D rinforza le ossa.",
        "Gli antibiotici non agiscono sui virus.",
        "Questo farmaco è efficace e sicuro.",
        "Il caffè allunga la vita.",
        "L'insulina regola lo zucchero nel sangue.",
        "La terapia accorcia la degenza ospedaliera.",
        "Lo zinco accorcia il raffreddore di un giorno.",
        "Le mascherine limitano la trasmissione dei virus.",
    ],
    "Portuguese": [
        "A aspirina reduz o risco de AVC.",
        "As estatinas baixam o colesterol no sangue.",
        "O tabaco causa cancro do pulmão.",
        "A metformina trata a diabetes tipo 2.",
        "A vacina protege contra o sarampo.",
        "Uma gripe dura cerca de duas semanas.",
        "O ramipril baixa a tensão arterial.",
        "A vitamina D fortalece os ossos.",
        "Os antibióticos não atuam sobre os vírus.",
        "Este medicamento é eficaz e seguro.",
        "O café prolonga a vida.",
        "A insulina regula o açúcar no sangue.",
        "A terapia encurta o internamento hospitalar.",
        "O zinco encurta a constipação um dia.",
        "As máscaras limitam a transmissão do vírus.",
    ],
    "Dutch": [
        "Aspirine verlaagt het risico op een beroerte.",
        "Statines verlagen het cholesterol in het bloed.",
        "Roken veroorzaakt longkanker bij mannen.",
        "Metformine wordt gebruikt bij diabetes.",
        "Het vaccin beschermt tegen mazelen.",
        "Een griep duurt ongeveer twee weken.",
        "De bloeddruk daalt door ramipril.",
        "Vitamine D versterkt de botten van kinderen.",
        "Antibiotica helpen niet tegen virussen.",
        "Dit geneesmiddel is veilig en werkzaam.",
        "Koffie verlengt het leven.",
        "Insuline regelt de suiker in het bloed.",
        "De therapie verkort het verblijf in het ziekenhuis.",
        "Zink verkort een verkoudheid met een dag.",
        "Mondkapjes beperken de overdracht van virussen.",
    ],
}
SCRIPTS = {
    "Cyrillic": "Аспирин снижает риск инсульта.",
    "Chinese": "阿司匹林可降低中风的风险。",
    "Japanese": "アスピリンは脳卒中の危険性を低下させる。",
    "Korean": "아스피린은 뇌졸중 위험을 낮춘다.",
    "Arabic": "يقلل الأسبرين من خطر السكتة الدماغية.",
    "Hebrew": "אספירין מפחית את הסיכון לשבץ.",
    "Devanagari": "एस्पिरिन स्ट्रोक का खतरा कम करती है।",
    "Greek": "Η ασπιρίνη μειώνει τον κίνδυνο εγκεφαλικού επεισοδίου.",
    "Thai": "แอสไพรินลดความเสี่ยงของโรคหลอดเลือดสมอง",
}
ENGLISH = [
    "Aspirin does not lower the risk of stroke.",
    "TNF-α, IL-1β, IFN-γ and NF-κB rise in αβ T cells; Δψm falls (ρ = 0.5).",
    "β-catenin → Wnt, γδ T, ΔF508, μ-opioid, λ, κ.",
    "De novo mutations in SCN1A cause Dravet syndrome in vivo and in vitro.",
    "Clostridioides difficile and Staphylococcus aureus colonise de la Tourette patients.",
    "Von Willebrand disease, van der Woude syndrome, tic de la Tourette, Charcot-Marie-Tooth.",
    "Mice lacking the gene die in utero, per se, et al.",
    "Trastuzumab deruxtecan versus trastuzumab emtansine, HER2-positive metastatic breast cancer.",
    "Hospital Universitario La Paz, Madrid: a cohort of 300 men.",
    "PCSK9 inhibitors lower LDL cholesterol.",
    "Von der Heydt classification, de la Peña criteria.",
    "Cell-type-specific open-field tests, d-dimer assays, e-health, o-cresol.",
    "De novo BRCA1 variants, naïve T lymphocytes.",
    "Garcia et al. reported worse outcomes.",
    "Die, or live: a man and his son had a par score over ten.",
    "Ménière's disease and Sjögren's syndrome in São Paulo.",
    "Patients in Москва had more strokes than those in London.",
]


@pytest.mark.parametrize(
    ("language", "text"), [(language, text) for language, texts in LATIN.items() for text in texts]
)
def test_languages_in_latin_script(language: str, text: str):
    assert foreign_reason(text) == f"looks like {language}"


@pytest.mark.parametrize("language", SHORT_CLAIMS)
def test_most_short_claims_are_detected(language: str):
    told = [text for text in SHORT_CLAIMS[language] if foreign_reason(text)]
    assert len(told) >= 0.8 * len(SHORT_CLAIMS[language])


def test_nearly_all_short_claims_are_detected():
    texts = [text for texts in SHORT_CLAIMS.values() for text in texts]
    assert len(texts) == 90
    assert sum(foreign_reason(text) is not None for text in texts) >= 0.9 * len(texts)


@pytest.mark.parametrize(
    "text",
    [
        "La aspirina reduce el riesgo de ictus en pacientes.",
        "L'aspirina riduce il rischio di ictus.",
        "A aspirina reduz o risco de AVC.",
        "Aspirin senkt das Risiko eines Schlaganfalls.",
        "L'aspirine réduit le risque d'AVC.",
        "L’aspirine réduit le risque d’AVC.",
        "Aspirine verlaagt het risico op een beroerte.",
    ],
)
def test_short_ordinary_claims_are_detected(text: str):
    assert foreign_reason(text)


def test_the_rules_have_a_signature():
    assert LANGUAGE == "language.v1"


@pytest.mark.parametrize(("script", "text"), SCRIPTS.items())
def test_other_scripts(script: str, text: str):
    assert foreign_reason(text) == f"written in a script other than Latin: {script}"


@pytest.mark.parametrize("text", ENGLISH)
def test_biomedical_english_is_not_flagged(text: str):
    assert foreign_reason(text) is None


@pytest.mark.parametrize("text", ["", "Ja.", "Nicht so gut", "β", "Ω Δ α", "4.5 % (p < 0.05)", "日本"])
def test_too_short_to_tell(text: str):
    assert foreign_reason(text) is None


def test_letters_may_be_separate_from_their_marks():
    assert foreign_reason("Bu tedavi daha pahalı ancak iki grup arasında fark değil.".replace("ğ", "g\u0306"))


@given(st.text())
def test_any_text_is_taken(text: str):
    reason = foreign_reason(text)
    assert reason is None or reason.startswith(("written in", "looks like"))
