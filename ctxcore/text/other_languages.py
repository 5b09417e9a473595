"""Words that say little in German, French, Spanish, Italian, Portuguese and Dutch.

The lists were written for this library, as the index of messages has words: in lower case, without
accents, cut at apostrophes. What a language shares with content words of others counts only in
texts of that language.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from ctxcore.text.words import STOP_WORDS, word_set

LEAST_FOUND: Final = 2  # of a language; chosen: “Dan?” is no Dutch
_GERMAN: Final = word_set("""
    abend abends aber ach ah aha alle allem allen aller allerdings alles als also am an ander andere
    anderen anderer anderes auch auf aus bald bei beim bereits besonders besser bestimmt bin bis
    bisschen bist bitte bleib bleibt brauch brauche brauchst da dabei dafur daher dahin dahinten
    damals damit danach dank danke dann daran darauf daraus darf darin darum das dass davon davor
    dazu dein deine deinem deinen deiner dem den denke denkst denn der des deshalb dich die dies
    diese diesem diesen dieser dieses dir doch dort drin du durch ebenfalls echt ehrlich eigentlich
    ein eine einem einen einer eines einfach einig einige einiges einmal endlich entschuldige
    entschuldigung er erst erzahl es etwas euch euer eure fast fertig finde findest freue freut fur
    ganz gar gefallt gehe gehen geht genau gerade gern gerne geschlafen gestern gib gibt ging glaub
    glaube gut gute guten guter gutes hab habe haben habt haha hallo hast hat hatt hatte hatten
    hattest heisst heißt heute hier hin hm hoffe hoffentlich hor ich ihm ihn ihnen ihr ihre ihrem
    ihren ihrer im immer in ins irgendwas irgendwie ist ja jede jedem jeden jeder jedes jemand jetzt
    kam kann kannst kaum kein keine keinem keinen keiner klar klasse klingt komm komme kommen kommst
    kommt konnen konnt konnte konnten kurz lass lasst leid leider lieb liebe lieber los mach mache
    machen machst macht mag magst mal man manchmal mehr mein meine meinem meinen meiner meinst
    meinte meist mich mir mit mochte mochten mochtest moglich moin morgen morgens muss mussen musst
    musste na nach nacht nachts naturlich ne neben nee nehme nein nett neu neue neues nicht nichts
    nie niemand noch nun nur ob oder oft oh ohne okay paar prima problem recht richtig sag sage
    sagen sagst sagt sagten schau schlaf schlafen schlecht schon schone schonen schoner schones sehr
    sei seid sein seine seinem seinen seiner seit selbst sich sicher sie siehst sieht sind so sofort
    sogar soll sollen sollst sollte sollten sonst spat spater stimmt super tag tage toll tolle
    tschuss tue tun tut uber uberhaupt uhr um und uns unser unsere unserem unseren unter viel viele
    vielen vielleicht vom von vor wahr wann war waren warst warum was weg weil weiter weiß weißt
    welche welchem welchen welcher welches wem wen wenig weniger wenn wer werde werden wie wieder
    wieso will willkommen willst wir wird wirklich wirst wo woche wochenende woher wohin wohl wollen
    wollte worden wunderbar wunsche wurde wurden zeit zu zum zur zuruck zusammen zwar zwischen
""")
_FRENCH: Final = word_set("""
    a ah ai aime aimerais aller alors an apres as assez attends au aucun aucune aujourd aussi autre
    autres aux avaient avais avait avant avec avez avoir avons beau beaucoup bel belle bien bientot
    bof bon bonjour bonne bonsoir c ca car ce ceci cela celle celles celui ces cet cette ceux chaque
    chez chose choses ciao combien comme comment compris content contente coucou crois d dans de
    debout demain depuis dernier derniere des desole desolee deux devais devait devoir devrais
    devrait dire dis dit dois doit donc dont dormi dors drole du e effet elle elles en enchante
    encore ensemble ensuite entre envie es est et etaient etais etait ete etes etre eu euh eux
    exactement excuse excusez faire fais fait faites faudrait faut fois font fut genial genre gentil
    gentille grace grand grave hein heu heure heures heureuse heureux hier hui hum ici il ils j
    jamais je jour journee jours jusqu jusque juste l la laisse le lequel les leur leurs loin lors
    lui m ma maintenant mais mal matin me meme memes merci mes mien mieux moi moins moment mon n ne
    ni nickel non nos notre nous nouveau nouvelle nuit on ont ou ouais oui par parce pardon pareil
    parfait parfois parle parler pas passe pense penses personne petit petite peu peut peuvent peux
    plaisir plait plus plutot pour pourquoi pourrais pourrait pouvait pouvez pouvoir pres presque
    probleme problemes prochain prochaine puis qu quand que quel quelle quelles quelqu quelque
    quelques quels qui quoi rendez rien s sa sais salut sans sauf se sera serais serait ses seul
    seule si soir soiree sois soit sommes son sont sous souvent suis super sur sympa t ta tant tard
    te tellement temps tes tiens toi ton tot toujours tous tout toute toutes tres trop tu un une va
    vais vas vers veut veux viens vient voici voila voir vois vont vos votre voudrais vous vrai
    vraiment week weekend y
""")
_SPANISH: Final = word_set("""
    a acuerdo adios ahi ahora al algo alguien algun alguna algunas alguno algunos alla alli amiga
    amigo ante antes aqui asi aun aunque ayer bastante bien bienvenido buena buenas bueno buenos
    cada casi claro como con conmigo contigo creo cual cuales cualquier cuando cuanta cuanto cuantos
    cuentame da dale de debe deberia debo decir del demasiado dentro desde despues dia dias dice
    dices digo dime dios donde dormir dormiste dos durante e el ella ellas ellos en encanta
    encantado entonces entre era eran eras eres es esa esas ese eso esos esta estaba estaban estado
    estamos estan estar estara estas este esto estos estoy estuve estuvo exacto favor feliz fin fue
    fuera fueron fui genial gracias gran gusta gustaria gusto ha haber habia hablar hace hacer haces
    hacia hago han has hasta hay haya he hecho hemos hola hora horas hoy iba igual importa ir jaja
    jajaja la las le les lo los luego lunes mal manana mas mayor me mejor menos mi mia mientras mio
    mis misma mismo momento mucha muchas mucho muchos muy nada nadie necesito ni ningun ninguna no
    noche noches nos nosotros nuestra nuestro nuevo nunca o ojala os otra otras otro otros para
    parece parte pasa pasado paso pena perdon perdona perfecto pero persona poca poco podemos poder
    podria podrias por porque preocupes problema problemas pronto proximo pudo puede pueden puedes
    puedo pues que queria quien quienes quiere quieres quiero quiza quizas sabe saber sabes se sea
    seguro semana ser seria si sido siempre siento sin sino sobre sois solo somos son soy su sus
    suya suyo tal tambien tampoco tan tanto tarde tardes te temprano tendria tenemos tener tengo ti
    tiempo tiene tienen tienes toda todas todavia todo todos tras tu tus un una unas uno unos usted
    ustedes va vale vamos van vas vaya ve veces ver verdad vez vi vida viene voy vuelve y ya yo
""")
_ITALIAN: Final = word_set("""
    a abbastanza abbiamo adesso ah ahah al alcune alcuni all alla alle allo allora altra altre altri
    altro amica amico anche ancora andare andata andato andiamo anzi appena aspetta assolutamente
    attimo avere avete aveva avevano avevo avrei avuto basta bel bella belle belli bello ben bene
    benissimo benvenuto brava bravo buona buonanotte buonasera buone buongiorno buoni buono c
    capisco capito certo che chi chiaro ci ciao cio coi col com come con contenta contento cosa cose
    cosi credo cui d da dagli dai dal dall dalla dalle davvero degli dei del dell della delle dello
    dentro devi devo di dice dici dico dimmi dire direi divertente domani dopo dormi dormito dove
    dovevo dovrei due durante e ecco ed era erano eri ero esatto essere fa facciamo faccio facendo
    fai fanno fare fatto favore felice fine fino forse fra freddo fuori gentile gia giornata giorni
    giorno giusto gli grazie ha hai hanno ho i idea ieri il importa in infatti insieme invece io l
    la le lei li lo loro lui ma mai male mamma mattina me meglio meno mentre mi mia mie miei mille
    mio molta molte molti molto momento n ne neanche nei nel nell nella nelle nessun nessuna nessuno
    niente no noi non nostra nostri nostro notte novita nulla nuova nuovo o od oggi ogni ok ora ore
    padre parla parlare parte peccato penso per perche perfetto pero persona piace piacere piu po
    poco poi possiamo posso potevo potrebbe potrei prego presto prima problema problemi pronto
    proprio puo puoi qua qual qualche qualcosa qualcuno quale quali quando quanto quasi quel quella
    quelle quelli quello questa queste questi questo qui quindi raccontami sai saluti salve sapevo
    saputo sara sarebbe scusa scusi se sei sembra sempre sentire sentito sento senza sera serata
    sette settimana si sia siamo siete simpatico sono sopra sotto spero sta stai stanca stanco
    stanno stare stata stato stavo stessa stesso sto su sua sue sui sul sull sulla suo suoi tanta
    tante tanti tanto tardi te tempo ti tra troppo trovo tu tua tue tuo tuoi tutta tutte tutti tutto
    un una uno va vado vai vanno vediamo vedo verita vero verso vi via vieni vogliamo volevo volta
    volte vorrei vostra vostro vuoi vuol vuole
""")
_PORTUGUESE: Final = word_set("""
    a acho adeus afinal agora ah ai ainda alem algo alguem algum alguma alguns ali amanha amiga
    amigo ante antes ao aos apenas aquela aquele aqueles aqui aquilo as assim ate atras atraves
    bastante bem boa boas bom bons breve ca cada certeza certo claro coisa coisas com comigo como
    conta contente contigo da dao daquele das de deixa dela dele deles demais depois desculpa
    desculpe desde dessa desse desta deste deu deve devia dia dias disse diz dizer do dois dormir
    dormiu dos e ela elas ele eles em embora encontro engracado entao entre era eram essa essas esse
    esses esta estao estar estas estava estavam este esteja estes esteve estive estou eu exatamente
    facil faco fala falar faz fazendo fazer feito feliz fico fim foi fomos for fora foram fosse fui
    gente gosta gostaria gosto ha haver hoje hora horas ideia importa ir isso isto ja kkk la legal
    lha lhe lhes logo longe mais mal manha mas me meio melhor menos mesma mesmo meu meus mim minha
    minhas momento muita muitas muito muitos na nada nao nas nem nenhum nenhuma nessa nesse nesta
    neste ninguem no noite nos nossa nosso nova novo num numa nunca o obrigada obrigado oi ola onde
    ontem os ou outra outras outro outros para parece parte pela pelas pelo pelos pena pensar penso
    perfeito pessoa pode podem poder poderia podia pois por porem porque possivel posso pouca pouco
    poucos prazer precisa preciso primeiro problema problemas pronto proprio proxima proximo pude
    quais qual qualquer quando quanto quase que quem quer queria quero sabe sabes sao se sei seja
    sem semana sempre sendo ser sera seria seu seus sim sinto so sob sobre somos sou sua suas ta tal
    talvez tambem tanta tanto tao tarde te tem tempo tenha tenho ter teria teu teve tinha tipo tive
    toda todas todo todos trabalho tu tua tudo um uma umas uns vai vamos vao vc vem ver verdade vez
    vezes vi vida voce voces volta vou
""")
_DUTCH: Final = word_set("""
    aan aardig ach af afgelopen al alleen alles als alsjeblieft alstublieft altijd anders avond
    bedankt beetje ben bent beter bij bijna blij blijf boven daag daar daarna daarom dag dan dank
    dat de den denk denkt dertig deze die dit doe doei doen doet dood door dus echt een eens eerst
    eigenlijk en er erg even fijn ga gaan gaat gedaan geef geen gegaan geleden gelukkig geslapen
    geweest gezellig gisteren goed goede goedemorgen goedenavond graag grappig groetjes haar had
    hadden haha hallo heb hebben hebt heeft heel heen helemaal hem hen het heus hier hij hoe hoeveel
    hoi hoop hun iemand iets ik in inderdaad is ja jaar jammer je jij jou jouw jullie kan klaar
    klinkt kom komen komt kon konden kun kunnen kunt kwam laat lachen lekker leuk leuke liever maak
    maakt maar maken man me mee meer meest meestal mensen met mij mijn minder misschien mocht moe
    moest moet moeten mogelijk mogen mooi morgen naar nacht natuurlijk nee neem net niemand niet
    niets nieuw nieuws nog nou nu of oh ok oke om omdat onder ons onze ooit ook op over paar precies
    prima probleem rond samen sinds slaap slapen snap soms sorry steeds straks te tegen tenminste
    terug thuis tijd toch toe toen tot tussen tuurlijk uit uur van vanaf vanavond vandaag vanmorgen
    veel vertel vind vindt volgende voor vooral vraag vroeg waar waarom wanneer want waren was wat
    we week weekend weer weet weg wel welke welkom welterusten werd weten wie wij wil wilde willen
    wist worden wordt wou zal ze zeer zeg zegt zei zelf zij zijn zin zo zoals zoiets zonder zou
    zouden zullen zult
""")
_LANGUAGES: Final = (_GERMAN, _FRENCH, _SPANISH, _ITALIAN, _PORTUGUESE, _DUTCH)


def stop_words_for(words: Collection[str]) -> frozenset[str]:
    """Returns the words that say little in the language of a text with these `words`.

    That is the one with most of them. English ones count where they are as many, or where the
    others are fewer than two: then one may be a name.
    """
    best = max(_LANGUAGES, key=lambda own: len(own.intersection(words)))
    found = len(best.intersection(words))
    is_foreign = found >= LEAST_FOUND and found > len(STOP_WORDS.intersection(words))
    return best | STOP_WORDS if is_foreign else STOP_WORDS
